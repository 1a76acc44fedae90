"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const {
  ProjectServer,
} = require("../../../../../src/codenib/navigation/typescript/engine/host/project-server");
const { loadedEngine, skip } = require("../loaded");

test("files without a project are read with the options that the server sets", { skip }, () => {
  const { ts, libraries } = loadedEngine();
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "loose-")));
  fs.writeFileSync(`${root}/a.jsx`, "export const a = <b />;");
  const server = new ProjectServer(ts, root, libraries, null);
  const project = server.openTogether([`${root}/a.jsx`]);
  assert.equal(project.getCompilerOptions().jsx, ts.JsxEmit.ReactJSX);
  assert.equal(server.isConfigured(project), false);
  assert.equal(server.host.directoryExists(path.dirname(root)), true);
  assert.equal(server.host.directoryExists(`${path.dirname(root)}/other`), false);
  fs.rmSync(root, { recursive: true });
});
