package javafacts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** A Maven project file as it is written; `Model` fills in what its parents say. */
record Pom(
        String group,
        String name,
        String version,
        Artifact parent,
        Map<String, String> properties,
        List<Dependency> dependencies,
        List<Dependency> managed) {

    /** What names a jar; an empty version means any. */
    record Artifact(String group, String name, String version, String classifier) implements Comparable<Artifact> {
        @Override
        public int compareTo(Artifact other) {
            return toString().compareTo(other.toString());
        }
    }

    record Dependency(Artifact artifact, String scope, String type, boolean optional) {}

    /** The file's contents; null when it cannot be read. */
    static Pom read(Path file) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            factory.setExpandEntityReferences(false);
            var builder = factory.newDocumentBuilder();
            builder.setErrorHandler(null);
            try (var stream = Files.newInputStream(file)) {
                return of(builder.parse(stream).getDocumentElement());
            }
        } catch (IOException | SAXException | ParserConfigurationException | RuntimeException error) {
            return null;
        }
    }

    private static Pom of(Element project) {
        Element above = child(project, "parent");
        Artifact parent = above == null ? null : artifact(above);
        String group = text(project, "groupId");
        String version = text(project, "version");
        Map<String, String> properties = new HashMap<>();
        List<Dependency> dependencies = new ArrayList<>();
        List<Dependency> managed = new ArrayList<>();
        gather(project, properties, dependencies, managed);
        Element profiles = child(project, "profiles");
        for (Element profile : profiles == null ? List.<Element>of() : children(profiles)) {
            gather(profile, properties, dependencies, managed);
        }
        return new Pom(
                group.isEmpty() && parent != null ? parent.group() : group,
                text(project, "artifactId"),
                version.isEmpty() && parent != null ? parent.version() : version,
                parent,
                properties,
                dependencies,
                managed);
    }

    private static void gather(
            Element element, Map<String, String> properties, List<Dependency> dependencies, List<Dependency> managed) {
        Element values = child(element, "properties");
        for (Element each : values == null ? List.<Element>of() : children(values)) {
            properties.putIfAbsent(each.getTagName(), each.getTextContent().strip());
        }
        dependencies.addAll(listed(child(element, "dependencies")));
        Element management = child(element, "dependencyManagement");
        if (management != null) {
            managed.addAll(listed(child(management, "dependencies")));
        }
    }

    private static List<Dependency> listed(Element list) {
        List<Dependency> found = new ArrayList<>();
        for (Element each : list == null ? List.<Element>of() : children(list)) {
            boolean optional = text(each, "optional").equals("true");
            found.add(new Dependency(artifact(each), text(each, "scope"), text(each, "type"), optional));
        }
        return found;
    }

    private static Artifact artifact(Element element) {
        return new Artifact(
                text(element, "groupId"), text(element, "artifactId"), text(element, "version"), text(element, "classifier"));
    }

    private static String text(Element element, String name) {
        Element found = child(element, name);
        return found == null ? "" : found.getTextContent().strip();
    }

    private static Element child(Element element, String name) {
        return children(element).stream().filter(each -> each.getTagName().equals(name)).findFirst().orElse(null);
    }

    private static List<Element> children(Element element) {
        List<Element> found = new ArrayList<>();
        for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element each) {
                found.add(each);
            }
        }
        return found;
    }
}
