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
    /// So many accounts are developers already.
    case tooManyDevelopers(developersMax: Int)
    /// Another account has that address.
    case emailTaken(String)
    /// The container has a token with that name.
    case tokenExists(name: String, container: String)
    /// The environment of the container has a server-to-server key with that name.
    case keyExists(name: String, container: String, environment: String)
    /// There is no container with that identifier.
    case noSuchContainer(String)
    /// The container, or the environment of it, is being removed.
    case isBeingRemoved(container: String, environment: String?)
    /// The bytes are no public key on the curve P-256.
    case badKey
    /// The text is no origin that a browser tells.
    case badOrigin(String)
    /// The text is no address where a sign-in page may lead.
    case badCallback(String)

    /// There is an administrator with that name.
    case administratorExists(name: String)
    /// There is no administrator with that name.
    case noSuchAdministrator(name: String)
    /// No other administrator has the role `administer`.
    case lastAdministrator(name: String)
    /// There are so many administrators already.
    case tooManyAdministrators(countMax: Int)
    /// The password is too short or too long.
    case badPassword(rule: String)

    /// What happened and what to do, for a person.
    public var description: String {
        switch self {
        case .noFile(let path): "There is no control file at \(path). Make it with: yap init"
        case .badName(let what, let name, let rule): "\"\(name)\" can't be the name of \(what). \(rule)"
        case .accountExists(let name): "There is an account \(name) already. Choose another name."
        case .noSuchAccount(let name): "There is no account \(name). See: yap account list"
        case .tooManyDevelopers(let developersMax):
            "\(developersMax) accounts at most are developers. Take it from another: "
                + "yap account set NAME --no-developer"
        case .emailTaken(let email): "Another account has the address \(email). See: yap account list"
        case .tokenExists(let name, let container):
            "\(container) has a token named \(name) already. Choose another name, or revoke that one."
        case .keyExists(let name, let container, let environment):
            "\(container) has a key named \(name) in \(environment) already. Choose another name, or revoke that one."
        case .noSuchContainer(let container):
            "There is no container \(container). Make it with: yap init --container \(container)"
        case .isBeingRemoved(let container, let environment):
            "\(container)\(environment.map { ", \($0)," } ?? "") is being removed. Once that is done it can be made "
                + "again. To have it done now: yap container delete \(container)"
                + "\(environment.map { " --environment \($0)" } ?? "") --yes"
        case .badKey:
            "This is no public key on the curve P-256. Make one with: openssl ec -in key.pem -pubout"
        case .badOrigin(let text):
            "\"\(text)\" is no origin. Write it as https://app.example.com or http://localhost:3000, without a path."
        case .badCallback(let text):
            "\"\(text)\" is no address to lead to. Write it as https://app.example.com/signed-in, or with a scheme of "
                + "the app's own, without a fragment."
        case .administratorExists(let name):
            "There is an administrator \(name) already. Choose another name."
        case .noSuchAdministrator(let name): "There is no administrator \(name). See: yap admin list"
        case .lastAdministrator(let name):
            "\(name) is the last administrator with the role administer. Give another one that role first."
        case .tooManyAdministrators(let countMax):
            "There are \(countMax) administrators, and no more can be added. Remove one first."
        case .badPassword(let rule): "The password can't be used. \(rule)"
        }
    }
}
