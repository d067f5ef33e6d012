import Crypto

extension MadeUpPassword {
    /// Prints a generated password.
    static func tell(_ password: String, _ console: Console) throws {
        try console.print("password \(password)")
        try console.print("It is shown this once: the server keeps only what checks it.")
    }
}
