/// A query in FTS5's syntax.
struct TextQueryExpression<Object: Sendable> {
    typealias Query = YapDatabaseTextQuery<Object>

    let search: YapDatabaseFullTextSearch<Object>
    let sql: FullTextSQL

    /// Returns the text of a node.
    func text(_ node: Query.Node) throws -> String {
        switch node {
        case .text(let text, let form): words(form.parts(of: text), form)
        case .expression(let syntax): TextQueryWords.withoutNUL(syntax)
        case .and(let nodes): try joined(nodes, "AND")
        case .or(let nodes): try joined(nodes, "OR")
        case .excluding(let node, let other): try joined([node, other], "NOT")
        case .column(let node, let column): "{\(sql.filters[try place(column)])} : (\(try text(node)))"
        case .tooDeep: throw node.tooDeepError
        }
    }

    /// Returns the index of a column.
    func place(_ column: Query.Column) throws -> Int {
        let found: Int? =
            switch column {
            case .path(let path): search.columns.firstIndex { $0.path == path }
            case .name(let name): search.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
            }
        if let found { return found }
        let wanted =
            switch column {
            case .path(let path): "\(path)"
            case .name(let name): "\"\(name)\""
            }
        throw YapDatabaseError(
            .invalidExtension, "the search \"\(search.name)\" has no column for \(wanted)",
            collection: search.collection)
    }

    private func joined(_ nodes: [Query.Node], _ word: String) throws -> String {
        try nodes.map { "(\(try text($0)))" }.joined(separator: " \(word) ")
    }

    private func words(_ words: [String], _ form: Query.Form) -> String {
        // FTS5 finds nothing for an empty phrase, but ignores one between other words without an operator.
        guard !words.isEmpty else { return "\"\"" }
        let quoted = words.map(TextQueryWords.quoted)
        let text = quoted.joined(separator: form == .any ? " OR " : " ")
        // Trigrams find every part of a word.
        return form == .allWithPrefix && search.tokenizer != .trigram ? text + " *" : text
    }
}
