/// An error of a call on the control file. An error of the file itself is a `CloudStoreError`.
package enum ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The control file doesn't exist.
    case noFile(path: String)
    /// The name isn't valid. `what` is what it names, and `rule` describes valid names.
    case badName(what: String, name: String, rule: String)
    /// An account with that name exists.
    case accountExists(name: String)
    /// No account has that name.
    case noSuchAccount(name: String)
    /// The maximum number of developers is reached.
    case tooManyDevelopers(developersMax: Int)
    /// Another account has that email address.
    case emailTaken(String)
    /// The container has another token with that name.
    case tokenExists(name: String, container: String)
    /// The environment of the container has another server-to-server key with that name.
    case keyExists(name: String, container: String, environment: String)
    /// No container has that identifier.
    case noSuchContainer(String)
    /// The container or the environment is being removed.
    case isBeingRemoved(container: String, environment: String?)
    /// The bytes aren't a public key on the curve P-256.
    case badKey
    /// The text isn't an origin as browsers send it.
    case badOrigin(String)
    /// The text isn't a valid redirect address of a sign-in page.
    case badCallback(String)

    /// An administrator with that name exists.
    case administratorExists(name: String)
    /// No administrator has that name.
    case noSuchAdministrator(name: String)
    /// No other administrator has the role `administer`.
    case lastAdministrator(name: String)
    /// The maximum number of administrators is reached.
    case tooManyAdministrators(countMax: Int)
    /// The password is too short or too long.
    case badPassword(rule: String)

    /// Human-readable text: what happened and what to do.
    package var description: String {
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
