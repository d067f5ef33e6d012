import Crypto

extension MadeUpPassword {
    /// Prints a generated password.
    static func tell(_ password: String, _ console: Console) throws {
        try console.print("password \(password)")
        try console.print("This password is shown once. The server stores only a hash.")
    }
}
