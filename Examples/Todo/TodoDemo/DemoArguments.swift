import Foundation

/// What the command line says.
struct DemoArguments {
    static let usage = """
        usage: TodoDemo [--keep] [--all] [FILE]

          FILE     a todo.txt list (todotxt.org); Examples/Todo/todo.txt if none is named
          --keep   leave the databases in the temporary folder, and say where
          --all    compare every item in a table, not only those that were edited
        """

    var path = "Examples/Todo/todo.txt"
    var keepsFolder = false
    var listsAll = false

    /// - Throws: `DemoError.usage` for an option that there isn't, or a second file.
    init(_ words: [String]) throws {
        var paths = [String]()
        for word in words {
            switch word {
            case "--keep": keepsFolder = true
            case "--all": listsAll = true
            case _ where word.hasPrefix("-"): throw DemoError.usage("there is no option \(word)")
            default: paths.append(word)
            }
        }
        guard paths.count <= 1 else { throw DemoError.usage("one list at a time") }
        path = paths.first ?? path
    }

    /// The folder with `yap` and `todo`: they lie beside the demo.
    static func programs() throws -> String {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent().path ?? "."
        for name in ["yap", "todo"] where access("\(folder)/\(name)", X_OK) != 0 {
            throw DemoError.notBuilt("\(folder)/\(name)")
        }
        return folder
    }
}

/// Why the demo can't go on.
enum DemoError: Error, CustomStringConvertible {
    case usage(String)
    case unreadable(path: String, reason: String)
    case notBuilt(String)

    var description: String {
        switch self {
        case .usage(let mistake): "\(mistake)\n\(DemoArguments.usage)"
        case .unreadable(let path, let reason): "can't read \(path): \(reason)"
        case .notBuilt(let path): "\(path) doesn't exist: `make demo` builds it"
        }
    }
}
