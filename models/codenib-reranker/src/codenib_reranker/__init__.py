"""The files of CodeNib's small reranker: model.onnx, tokenizer.json, config.json. No code."""
