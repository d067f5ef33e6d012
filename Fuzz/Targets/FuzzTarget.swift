/// A reader of foreign bytes, and what must hold whatever it is given.
public struct FuzzTarget: Sendable {
    /// Names the target's folder in `Fuzz/Corpus`.
    public let name: String
    /// Reads one input; throws a `FuzzFinding` when something doesn't hold, and traps where the product does.
    public let run: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.run = run
    }

    /// All targets. A new one needs a line here and a folder with some inputs.
    public static let all: [FuzzTarget] = [
        FuzzTarget("request", fuzzRequest), FuzzTarget("json", fuzzJSON), FuzzTarget("fields", fuzzFields),
        FuzzTarget("token", fuzzToken), FuzzTarget("query", fuzzQuery), FuzzTarget("schema", fuzzSchema),
        FuzzTarget("operations", fuzzSchemaOperations), FuzzTarget("multipart", fuzzMultipart),
        FuzzTarget("signature", fuzzSignature), FuzzTarget("operator", fuzzOperator),
    ]
}

/// Something that must hold for every input, and didn't for one.
public struct FuzzFinding: Error, CustomStringConvertible {
    /// What was wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Throws what is wrong when `condition` isn't so.
func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) throws {
    if !condition { throw FuzzFinding(wrong()) }
}
