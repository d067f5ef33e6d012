/// What a row of the table in `docs/CLOUDKIT_ON_LINUX.md` says of a symbol. It comes from the code: a line of the
/// symbol's comment, or of its type's, that begins with `- Note: Inert: ` or `- Note: Coming: `, and the availability.
struct SymbolTable {
    enum State: String {
        case done, inert, coming
    }

    struct Row: Equatable {
        var name: String
        var state: State
        var note: String

        var text: String { "| `\(name)` | \(state) | \(note) |" }
    }

    let rows: [Row]

    init(_ graph: SymbolGraph) {
        let marks = graph.symbols.reduce(into: [String: (state: State, why: String)]()) { marks, symbol in
            if let mark = Self.mark(symbol), marks[symbol.path] == nil { marks[symbol.path] = mark }
        }
        var rows: [String: Row] = [:]
        for symbol in graph.symbols where Self.isListed(symbol) {
            let row = Self.row(symbol, marks)
            // Overloads that differ in their types only are one row.
            if rows[row.name] == nil || row.note.isEmpty { rows[row.name] = row }
        }
        self.rows = rows.values.sorted { $0.name < $1.name }
    }

    /// Underscored names are for the compiler.
    static func isListed(_ symbol: SymbolGraph.Symbol) -> Bool {
        !symbol.pathComponents.contains { $0.hasPrefix("_") } && symbol.location != nil
    }

    static func mark(_ symbol: SymbolGraph.Symbol) -> (state: State, why: String)? {
        for line in symbol.docComment?.lines ?? [] {
            for (prefix, state) in [("- Note: Inert: ", State.inert), ("- Note: Coming: ", .coming)]
            where line.text.hasPrefix(prefix) {
                let why = line.text.dropFirst(prefix.count)
                return (state, String(why.hasSuffix(".") ? why.dropLast() : why))
            }
        }
        return nil
    }

    private static func row(
        _ symbol: SymbolGraph.Symbol, _ marks: [String: (state: State, why: String)]
    ) -> Row {
        let own = mark(symbol)
        let inherited = (0..<symbol.pathComponents.count).reversed().lazy.compactMap { count in
            marks[symbol.pathComponents.prefix(count).joined(separator: ".")]
        }.first
        var row = Row(name: symbol.path, state: .done, note: "")
        if symbol.isUnavailable {
            row.state = .inert
            row.note = "Apple took it away: \(symbol.instead ?? "")"
        } else if let mark = own ?? inherited {
            row.state = mark.state
            row.note = own == nil ? "" : mark.why
        } else if symbol.isDeprecated {
            row.note = symbol.instead.map { "deprecated: `\($0)`" } ?? "deprecated"
        }
        return row
    }

    static let header = "| symbol | state | note |"

    var text: String {
        ([Self.header, "|---|---|---|"] + rows.map(\.text)).joined(separator: "\n") + "\n"
    }
}
