import CloudStore
import Crypto
import System

/// Signs administrators in, as `SignInCheck` does for users: each wrong password increases the delay before
/// the next attempt, for the name and for the address, also after a restart. It blocks, because a password's
/// hash is slow.
final class AdministratorSignIn: Sendable {
    enum Answer {
        case signedIn(token: String, session: AdministratorSession)
        /// A wrong name, password or link. `administrator` is set if the name exists.
        case refused(administrator: Administrator?)
        case wait(seconds: Int)
    }

    private let control: ControlStore
    private let administrators: Administrators
    private let sessions: AdministratorSessions
    private let tries: Lock<AttemptLimiter>
    private let clock: any MonotonicSource
    /// A hash with the cost of a real one that matches no password.
    private let nobody: PasswordHash

    /// - Throws: `CryptoError` if the system provides no randomness; `CloudStoreError` if the control file
    ///   can't be read.
    init(_ control: ControlStore, clock: any MonotonicSource) throws {
        self.control = control
        self.clock = clock
        administrators = control.administrators
        sessions = control.administratorSessions
        nobody = try PasswordHash.fittingNothing()
        tries = Lock(
            AttemptLimiter(
                digest: { (try? control.signInTries.digest(of: "administrator: " + $0)) ?? [] },
                kept: try control.signInTries.list(), at: clock.elapsedMilliseconds()))
    }

    func signIn(link: String, address: String, client: String?) throws -> Answer {
        // 256 random bits need no limit on attempts.
        guard let made = try sessions.make(link: link, address: address, client: client) else {
            return .refused(administrator: nil)
        }
        return .signedIn(token: made.token, session: made.session)
    }

    func signIn(
        name: String, password: String, address: String, isKnown: Bool, client: String?
    ) throws -> Answer {
        let administrator = try administrators.administrator(named: name)
        let refusal = try check(
            password, of: administrator, counted: name, address: address, isKnown: isKnown)
        if let refusal { return refusal }
        guard let administrator else { return .refused(administrator: nil) }
        do {
            let made = try sessions.make(for: administrator, address: address, client: client)
            return .signedIn(token: made.token, session: made.session)
        } catch ControlError.noSuchAdministrator {
            // The administrator was removed or changed the password during the check.
            return .refused(administrator: administrator)
        }
    }

    /// Checks a password. Returns nil if it is correct.
    ///
    /// - Parameters:
    ///   - counted: the name for which attempts are counted.
    ///   - isKnown: the administrator signed in from this address before, and has a separate count there.
    ///     Otherwise a stranger's guesses could lock the administrator out.
    func check(
        _ password: String, of administrator: Administrator?, counted: String, address: String, isKnown: Bool
    ) throws -> Answer? {
        let now = clock.elapsedMilliseconds()
        let wait = tries.withLock {
            $0.begin(account: counted, address: address, isKnown: isKnown, at: now)
        }
        if let wait { return .wait(seconds: wait) }
        let hash = try administrator?.passwordHash.map { try PasswordHash(stored: $0) } ?? nobody
        guard try hash.matches(password), administrator != nil else {
            try control.signInTries.save(
                tries.withLock {
                    $0.failed(account: counted, address: address, isKnown: isKnown, at: now)
                })
            return .refused(administrator: administrator)
        }
        let forgotten = tries.withLock {
            $0.succeeded(account: counted, address: address, isKnown: isKnown, at: now)
        }
        if let forgotten { try control.signInTries.save([forgotten]) }
        return nil
    }
}
