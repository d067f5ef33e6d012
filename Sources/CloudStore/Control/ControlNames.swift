/// Rules for the names of accounts, tokens and containers.
enum ControlNames {
    static let accountBytesMax = 100
    static let tokenBytesMax = 100
    static let containerBytesMax = 200
    static let notesBytesMax = 1_000
    static let personBytesMax = 200
    static let emailBytesMax = 254

    static func checkAccount(_ name: String) throws {
        let isName =
            (1...accountBytesMax).contains(name.utf8.count)
            && name.utf8.allSatisfy { isWordByte($0) || [0x2D, 0x2E, 0x40, 0x2B].contains($0) }
        guard isName else {
            throw ControlError.badName(
                what: "an account", name: name,
                rule: "Use 1 to \(accountBytesMax) of the characters A-Z a-z 0-9 . _ - @ +")
        }
    }

    static func checkAdministrator(_ name: String) throws {
        do {
            try checkAccount(name)
        } catch ControlError.badName(_, _, let rule) {
            throw ControlError.badName(what: "an administrator", name: name, rule: rule)
        }
    }

    static func checkToken(_ name: String) throws {
        guard isPrintable(name, bytesMax: tokenBytesMax) else {
            throw ControlError.badName(
                what: "a token", name: name,
                rule: "Use 1 to \(tokenBytesMax) bytes without control characters.")
        }
    }

    static func checkKey(_ name: String) throws {
        guard isPrintable(name, bytesMax: tokenBytesMax) else {
            throw ControlError.badName(
                what: "a key", name: name,
                rule: "Use 1 to \(tokenBytesMax) bytes without control characters.")
        }
    }

    static func checkEnvironment(_ name: String) throws {
        guard ["development", "production"].contains(name) else {
            throw ControlError.badName(
                what: "an environment", name: name, rule: "It is development or production.")
        }
    }

    static func checkNotes(_ notes: String?) throws {
        guard let notes, !isPrintable(notes, bytesMax: notesBytesMax) else { return }
        throw ControlError.badName(
            what: "notes", name: notes, rule: "Use 1 to \(notesBytesMax) bytes without control characters.")
    }

    static func checkPerson(_ name: String?) throws {
        guard let name, !isPrintable(name, bytesMax: personBytesMax) else { return }
        throw ControlError.badName(
            what: "a person", name: name, rule: "Use 1 to \(personBytesMax) bytes without control characters."
        )
    }

    /// Accepts any text before and after one `@`, of printable ASCII.
    static func checkEmail(_ email: String?) throws {
        guard let email else { return }
        let parts = email.utf8.split(separator: 0x40, omittingEmptySubsequences: false)
        guard email.utf8.count <= emailBytesMax, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
            email.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else {
            throw ControlError.badName(
                what: "an email address", name: email,
                rule: "Use at most \(emailBytesMax) printable ASCII characters, as in ann@example.com.")
        }
    }

    /// A container's name is also the name of a folder, so it can't contain a path.
    static func checkContainer(_ identifier: String) throws {
        let bytes = Array(identifier.utf8)
        let isName =
            (1...containerBytesMax).contains(bytes.count)
            && bytes.allSatisfy { isWordByte($0) || $0 == 0x2D || $0 == 0x2E } && bytes[0] != 0x2E
            && bytes[0] != 0x2D && !identifier.contains("..")
        guard isName else {
            throw ControlError.badName(
                what: "a container", name: identifier,
                rule: "Use letters, digits, dots, hyphens and underscores, as in iCloud.com.example.todo")
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: false
        }
    }

    private static func isPrintable(_ text: String, bytesMax: Int) -> Bool {
        (1...bytesMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
