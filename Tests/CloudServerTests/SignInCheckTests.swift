import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// Who is signed in, who is refused and what they are told, and who has to wait.
@Suite struct SignInCheckTests {
    private static let todo = "iCloud.com.example.todo"
    private static let cheap = PasswordHash.Cost(costLog2: 2, blockSize: 8, parallelism: 1)
    private let folder: TemporaryFolder
    private let control: ControlStore
    private let check: SignInCheck
    private let clock = ManualMonotonicSource()
    private let apiToken: String

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.file("control.sqlite"))
        control = try ControlStore(path: folder.file("control.sqlite"))
        check = try SignInCheck(control, isDevelopmentForEveryone: true, clock: clock)
        apiToken = try control.tokens.make(container: Self.todo, name: "app")
        for name in ["ann", "bob"] {
            let hash = try PasswordHash(hashing: "the password of \(name)", cost: Self.cheap)
            try control.accounts.add(name: name, givenName: name, passwordHash: hash.text)
        }
    }

    private func request(_ account: String, _ password: String) -> SignInRequest {
        SignInRequest(account: account, password: password, container: Self.todo, apiToken: apiToken)
    }

    private func token(_ answer: SignInAnswer) -> String? {
        if case .signedIn(let token, _, _, _) = answer { token } else { nil }
    }

    @Test func theRightPasswordMakesATokenForThatEnvironmentOnly() throws {
        let answer = check.signIn(request("ann", "the password of ann"), peer: "192.0.2.1")
        guard case .signedIn(let token, let name, let expires, _) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(expires > SystemTimeSource().nowMilliseconds())
        let accounts = ControlAccounts(control, isDevelopmentForEveryone: true)
        let container = CloudService.Container(identifier: Self.todo)
        let user = try accounts.user(webAuthToken: token, container: container)
        let session = try #require(try control.sessions.list().first?.id)
        #expect(user == ServiceUser(userRecordName: name, givenName: "ann", sessionID: session))
        let production = CloudService.Container(identifier: Self.todo, environment: "production")
        #expect(try accounts.user(webAuthToken: token, container: production) == nil)
        let other = CloudService.Container(identifier: "iCloud.com.example.notes")
        #expect(try accounts.user(webAuthToken: token, container: other) == nil)
        #expect(try accounts.admits(apiToken: apiToken, container: container))
        #expect(try !accounts.admits(apiToken: nil, container: container))
        #expect(try !accounts.admits(apiToken: apiToken, container: other))
    }

    @Test func anUnknownAccountAndAWrongPasswordHaveOneAnswer() {
        #expect(check.signIn(request("ann", "the password of bob"), peer: "a") == .refused)
        #expect(check.signIn(request("carol", "the password of ann"), peer: "a") == .refused)
    }

    @Test func aWrongTokenAndAMissingContainerAreReportedForAnyPassword() throws {
        try control.containers.add("iCloud.com.example.notes")
        for password in ["the password of ann", "wrong"] {
            var wrong = request("ann", password)
            wrong.apiToken = nil
            #expect(reason(wrong).contains("No API token"))
            wrong.apiToken = String(repeating: "0", count: 64)
            #expect(
                reason(wrong).contains("doesn't know this API token")
                    && reason(wrong).contains("yap token list"))
            wrong = request("ann", password)
            wrong.container = "iCloud.com.example.notes"
            #expect(reason(wrong).contains("doesn't know this API token"), "a token of another container")
            wrong.container = "iCloud.com.example.nowhere"
            #expect(reason(wrong).contains("no container iCloud.com.example.nowhere"))
            wrong = request("ann", password)
            wrong.environment = "test"
            #expect(reason(wrong).contains("in test here"))
            wrong.container = String(repeating: "x", count: 100_000)
            #expect(reason(wrong).utf8.count < 1_000)
        }
    }

    private func reason(_ request: SignInRequest) -> String {
        guard case .denied(let error) = check.signIn(request, peer: "a") else { return "" }
        return error.reason ?? ""
    }

    @Test func anUnknownAccountTakesAsLongAsAWrongPassword() throws {
        let hash = try PasswordHash(hashing: "the password of dora")
        try control.accounts.add(name: "dora", passwordHash: hash.text)
        func derivations(_ account: String) -> PasswordDerivations {
            let derivations = PasswordDerivations()
            PasswordDerivations.$counter.withValue(derivations) {
                #expect(check.signIn(request(account, "wrong"), peer: "a") == .refused)
            }
            return derivations
        }
        let (known, unknown) = (derivations("dora"), derivations("nobody"))
        #expect(known.count == 1 && unknown.count == 1)
        #expect(known.blocksCount == unknown.blocksCount && known.blocksCount > 0)
    }

    @Test func anAccountThatIsGuessedAtHasToWaitLongerEachTime() {
        for _ in 1..<AttemptLimiter.accountTriesFree {
            #expect(check.signIn(request("ann", "wrong"), peer: "a") == .refused)
        }
        for seconds in [1, 2, 4, 8] {
            #expect(check.signIn(request("Ann", "wrong"), peer: "b") == .refused)
            let early = check.signIn(request("ann", "the password of ann"), peer: "c")
            #expect(early == .tooManyTries(retryAfterSeconds: seconds), "also for the right password")
            #expect(token(check.signIn(request("bob", "the password of bob"), peer: "c")) != nil)
            clock.advance(byMilliseconds: Int64(seconds) * 1000)
        }
        #expect(token(check.signIn(request("ann", "the password of ann"), peer: "c")) != nil)
        #expect(
            check.signIn(request("ann", "wrong"), peer: "b") == .refused, "and the count is at its beginning")
        #expect(check.signIn(request("ann", "wrong"), peer: "b") == .refused)
    }

    @Test func whoHasToWaitHasToWaitAfterARestartToo() throws {
        let now = ManualTimeSource(milliseconds: 1_800_000_000_000)
        let control = try ControlStore(path: folder.file("control.sqlite"), clock: now)
        let check = try SignInCheck(control, isDevelopmentForEveryone: true, clock: clock)
        for _ in 0..<AttemptLimiter.accountTriesFree + 2 {
            _ = check.signIn(request("ann", "wrong"), peer: "192.0.2.1")
            clock.advance(byMilliseconds: 5_000)
        }
        #expect(check.signIn(request("ann", "wrong"), peer: "192.0.2.1") == .refused)
        let right = request("ann", "the password of ann")
        #expect(check.signIn(right, peer: "192.0.2.1") == .tooManyTries(retryAfterSeconds: 8))
        now.advance(bySeconds: 3)
        // Another process, whose monotonic clock begins somewhere else.
        let later = ManualMonotonicSource()
        later.advance(byMilliseconds: 77)
        let reopened = try ControlStore(path: folder.file("control.sqlite"), clock: now)
        let next = try SignInCheck(reopened, isDevelopmentForEveryone: true, clock: later)
        #expect(next.signIn(right, peer: "192.0.2.1") == .tooManyTries(retryAfterSeconds: 5))
        later.advance(byMilliseconds: 5_000)
        #expect(token(next.signIn(right, peer: "192.0.2.1")) != nil)
        // The account's failures are forgotten by that, in the file too; the address's stay.
        #expect(try reopened.signInTries.list().count == 1)
    }

    @Test func storedSignInAttemptsAreBoundedAndAnonymous() throws {
        _ = check.signIn(request("a password that was typed as a name", "wrong"), peer: "192.0.2.1")
        try control.signInTries.save(
            (0...SignInTryTable.countMax).map {
                ControlTry(
                    digest: Array("\($0)".utf8), failuresCount: 1, ageMilliseconds: Int64($0 % 1000),
                    waitMilliseconds: 0)
            })
        #expect(try control.signInTries.list().count == SignInTryTable.countMax)
        for suffix in ["", "-wal"] {
            let bytes = FileManager.default.contents(atPath: folder.file("control.sqlite" + suffix)) ?? Data()
            #expect(bytes.range(of: Data("a password that was".utf8)) == nil)
        }
        let clock = ManualTimeSource(
            milliseconds: SystemTimeSource().nowMilliseconds() + 2 * SignInTryTable.lifeMilliseconds)
        let later = try ControlStore(path: folder.file("control.sqlite"), clock: clock)
        #expect(try later.signInTries.list().isEmpty)
    }

    @Test func aDeviceThatIsUsedStaysSignedInAndOneThatIsNotDoesNot() throws {
        let day: Int64 = 86_400_000
        var lengths = SignInLengths()
        lengths.longestMilliseconds = 100 * day
        lengths.unusedMilliseconds = 10 * day
        let start: Int64 = 1_800_000_000_000
        let clock = ManualTimeSource(milliseconds: start)
        let control = try ControlStore(
            path: folder.file("control.sqlite"), clock: clock, signInLengths: lengths)
        let check = try SignInCheck(control, isDevelopmentForEveryone: true, clock: self.clock)
        var tokens: [String] = []
        for name in ["ann", "bob"] {
            guard
                case .signedIn(let token, _, let end, _) = check.signIn(
                    request(name, "the password of \(name)"), peer: "a")
            else { continue }
            #expect(end == start + 100 * day)
            tokens.append(token)
        }
        let (used, unused) = (try #require(tokens.first), try #require(tokens.last))
        for _ in 0..<99 {
            clock.advance(bySeconds: 86_400)
            #expect(try control.sessions.find(token: used) != nil)
        }
        #expect(try control.sessions.find(token: unused) == nil)
        clock.advance(bySeconds: 86_400)
        #expect(try control.sessions.find(token: used) == nil, "used or not, a sign-in ends")
    }

    @Test func whoSignedInFromAnAddressBeforeIsNotKeptOutByOthersTries() {
        #expect(token(check.signIn(request("ann", "the password of ann"), peer: "192.0.2.1")) != nil)
        for _ in 0..<AttemptLimiter.accountTriesFree {
            #expect(check.signIn(request("ann", "wrong"), peer: "192.0.2.9") == .refused)
        }
        let early = check.signIn(request("ann", "the password of ann"), peer: "192.0.2.2")
        #expect(early == .tooManyTries(retryAfterSeconds: 1), "from somewhere new")
        #expect(token(check.signIn(request("ann", "the password of ann"), peer: "192.0.2.1")) != nil)
        // Whoever sits there and guesses has to wait as everybody.
        for _ in 0..<AttemptLimiter.accountTriesFree {
            #expect(check.signIn(request("ann", "wrong"), peer: "192.0.2.1") == .refused)
        }
        let wait = check.signIn(request("ann", "the password of ann"), peer: "192.0.2.1")
        #expect(wait == .tooManyTries(retryAfterSeconds: 1))
    }

    @Test func fromWhereAnAccountWasSignedInToIsNotForgottenAtARestart() throws {
        #expect(token(check.signIn(request("ann", "the password of ann"), peer: "192.0.2.1")) != nil)
        let restarted = try SignInCheck(
            ControlStore(path: folder.file("control.sqlite")), isDevelopmentForEveryone: true, clock: clock)
        for _ in 0..<AttemptLimiter.accountTriesFree {
            #expect(restarted.signIn(request("ann", "wrong"), peer: "192.0.2.9") == .refused)
        }
        let right = request("Ann", "the password of ann")
        #expect(restarted.signIn(right, peer: "192.0.2.2") == .tooManyTries(retryAfterSeconds: 1))
        #expect(token(restarted.signIn(right, peer: "192.0.2.1")) != nil)
    }

    @Test func anAddressThatGuessesAtManyAccountsHasToWait() {
        var limiter = AttemptLimiter()
        for number in 0..<AttemptLimiter.addressTriesFree {
            #expect(limiter.begin(account: "account\(number)", address: "2001:db8::1", at: 0) == nil)
        }
        #expect(limiter.begin(account: "another", address: "2001:db8::1", at: 0) == 1)
        #expect(
            limiter.begin(account: "another", address: "2001:db8::ffff:2", at: 0) == 1, "the network counts")
        #expect(limiter.begin(account: "another", address: "2001:db8:0:1::1", at: 0) == nil)
        #expect(limiter.begin(account: "more", address: "192.0.2.1", at: 0) == nil)
        // A right password of one's own account doesn't wipe out the guesses at others.
        #expect(limiter.begin(account: "own", address: "2001:db8::1", at: 1000) == nil)
        _ = limiter.succeeded(account: "own", address: "2001:db8::1", at: 1000)
        #expect(limiter.begin(account: "another", address: "2001:db8::1", at: 1000) == nil)
        #expect(limiter.begin(account: "another", address: "2001:db8::1", at: 1000) == 2)
    }

    @Test func mappedIPv4AddressesAreDistinguished() {
        var limiter = AttemptLimiter()
        for number in 0..<AttemptLimiter.addressTriesFree {
            #expect(limiter.begin(account: "account\(number)", address: "::ffff:192.0.2.1", at: 0) == nil)
        }
        #expect(limiter.begin(account: "another", address: "::ffff:192.0.2.1", at: 0) == 1)
        #expect(limiter.begin(account: "another", address: "192.0.2.1", at: 0) == 1, "the same one")
        #expect(limiter.begin(account: "another", address: "::ffff:192.0.2.2", at: 0) == nil)
    }

    @Test func waitsAndMemoryAreBounded() {
        #expect(
            AttemptLimiter.waitMilliseconds(failures: 1000, free: 5) == Int64(AttemptLimiter.waitSecondsMax)
                * 1000)
        var limiter = AttemptLimiter()
        for number in 0..<AttemptLimiter.entriesMax + 100 {
            _ = limiter.begin(account: "ann", address: "host\(number)", at: Int64(number) * 1_000_000)
        }
        #expect(limiter.count <= AttemptLimiter.entriesMax)
        let later = Int64(AttemptLimiter.entriesMax + 100) * 1_000_000 + AttemptLimiter.memoryMilliseconds
        for _ in 0..<AttemptLimiter.accountTriesFree {
            #expect(
                limiter.begin(account: "ann", address: "new", at: later) == nil, "an hour later all is new")
        }
    }
}
