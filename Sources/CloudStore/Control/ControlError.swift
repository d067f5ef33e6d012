/// Why the control file would not do what was asked. What is wrong with the file itself is a `CloudStoreError`.
public enum ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no control file at the path.
    case noFile(path: String)
    /// The name can't be one; `what` says of which thing, `rule` which names are.
    case badName(what: String, name: String, rule: String)
    /// There is an account with that name.
    case accountExists(name: String)
    /// There is no account with that name.
    case noSuchAccount(name: String)
    /// The container has a token with that name.
    case tokenExists(name: String, container: String)

    /// What happened and what to do, for a person.
    public var description: String {
        switch self {
        case .noFile(let path): "There is no control file at \(path). Make it with: yap init"
        case .badName(let what, let name, let rule): "\"\(name)\" can't be the name of \(what). \(rule)"
        case .accountExists(let name): "There is an account \(name) already. Choose another name."
        case .noSuchAccount(let name): "There is no account \(name). See: yap account list"
        case .tokenExists(let name, let container):
            "\(container) has a token named \(name) already. Choose another name, or revoke that one."
        }
    }
}
