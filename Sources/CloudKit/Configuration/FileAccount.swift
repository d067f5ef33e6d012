internal import CloudWire
import Foundation
internal import System

/// The user who signed in to a container, as the credential file says. The file is read again whenever it changed, so
/// that a sign-in of another process counts.
package final class FileAccount: CloudAccount {
    private struct State {
        var hasRead = false
        var version: PrivateFile.Version?
        var entry: CredentialsDocument.Entry?
        var deviceID: String?
        var handlers: [@Sendable (_ isOurs: Bool) -> Void] = []
        var endWatch: (@Sendable () -> Void)?
    }

    private let file: CredentialFile
    private let server: String
    private let container: String
    private let environment: String
    private let apiToken: String?
    /// The token that the configuration gave; then the file holds what took its place since.
    private let givenToken: String?
    private let state: Lock<State>

    /// Makes the account of a container's user.
    /// - Parameters:
    ///   - deviceID: nil takes the one that lies beside the file, and makes it when there is none.
    ///   - givenToken: a token that the configuration gives; nil for the one of whoever signed in.
    ///   - watch: tells of what other processes write into the file; with nil it is seen by the next request.
    package init(
        file: CredentialFile, server: String, container: String, environment: String, apiToken: String?,
        deviceID: String?, givenToken: String? = nil, watch: FolderWatch? = nil
    ) {
        self.givenToken = givenToken
        self.file = file
        self.server = server
        self.container = container
        self.environment = environment
        self.apiToken = apiToken
        state = Lock(State(deviceID: deviceID))
        let endWatch = watch?.watch(path: file.path) { [weak self] in _ = try? self?.credential() }
        state.withLock { $0.endWatch = endWatch }
    }

    deinit { state.withLock { $0.endWatch }?() }

    package func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void) {
        state.withLock { $0.handlers.append(handler) }
    }

    package func credential() throws(CKError) -> CloudCredential {
        let (credential, isOtherUser) = try state.withLock {
            state throws(CKError) -> (CloudCredential, Bool) in
            let isOtherUser = try refresh(&state)
            if state.deviceID == nil { state.deviceID = try file.deviceID() }
            let credential = CloudCredential(
                webAuthToken: state.entry?.webAuthToken, apiToken: apiToken, deviceID: state.deviceID,
                userRecordName: state.entry?.userRecordName)
            return (credential, isOtherUser)
        }
        if isOtherUser {
            tellHandlers(isOurs: false)
            NotificationCenter.default.post(name: .CKAccountChanged, object: self)
        }
        return credential
    }

    /// Whether the user is another one than before.
    private func refresh(_ state: inout State) throws(CKError) -> Bool {
        if state.hasRead, file.version == state.version { return false }
        let (document, version) = try file.read()
        let entry = entry(in: document)
        let isOtherUser = state.hasRead && Self.isOther(entry, than: state.entry)
        state.hasRead = true
        state.version = version
        state.entry = entry
        return isOtherUser
    }

    private func entry(in document: CredentialsDocument) -> CredentialsDocument.Entry? {
        let ours = document.credentials.filter { $0.isFor(server, container, environment) }
        // An older file may have one by each name of this machine.
        let kept = ours.first { $0.server == server } ?? ours.first
        guard let givenToken, kept?.replacesToken != givenToken else { return kept }
        return CredentialsDocument.Entry(
            server: server, container: container, environment: environment, webAuthToken: givenToken)
    }

    /// Whether users sign in and out of it; else its token is the configuration's.
    package var takesSignIns: Bool { givenToken == nil }

    private static func isOther(
        _ entry: CredentialsDocument.Entry?, than before: CredentialsDocument.Entry?
    ) -> Bool {
        // A new token of the same user is no change of the account.
        entry?.userRecordName != before?.userRecordName || (entry == nil) != (before == nil)
    }

    /// Keeps a sign-in.
    package func signIn(
        webAuthToken: String, userRecordName: String?, expiresAtMilliseconds: Int64?
    ) throws(CKError) {
        try change { file throws(CKError) in
            try file.save(
                CredentialsDocument.Entry(
                    server: server, container: container, environment: environment,
                    webAuthToken: webAuthToken, userRecordName: userRecordName,
                    expiresAtMilliseconds: expiresAtMilliseconds))
        }
    }

    /// Forgets the sign-in.
    package func signOut() throws(CKError) {
        try change { file throws(CKError) in
            try file.remove(server: server, container: container, environment: environment)
        }
    }

    /// Writes into the file, and reads it before anybody else of this process does: so nobody takes this for a change
    /// that was made elsewhere.
    private func change(_ write: (CredentialFile) throws(CKError) -> Void) throws(CKError) {
        let isOtherUser = try state.withLock { state throws(CKError) in
            // Who was signed in has to be known, to tell whether that changes; another process may have changed it.
            let wasOtherUser = try refresh(&state)
            try write(file)
            return try refresh(&state) || wasOtherUser
        }
        if isOtherUser { tellHandlers(isOurs: true) }
    }

    private func tellHandlers(isOurs: Bool) {
        for handler in state.withLock({ $0.handlers }) { handler(isOurs) }
    }

    /// Keeps what takes the place of the configuration's token, so that the next process goes on with it.
    private func keepGiven(_ newToken: String, for token: String, in document: inout CredentialsDocument) {
        guard let givenToken, token == givenToken else { return }
        document.credentials.removeAll { $0.isFor(server, container, environment) }
        var entry = CredentialsDocument.Entry(
            server: server, container: container, environment: environment, webAuthToken: newToken)
        entry.replacesToken = givenToken
        document.credentials.append(entry)
    }

    package func replace(_ token: String, with newToken: String) {
        // Without the new token in the file this process still has it, and the next sign-in mends the file.
        try? file.change { document in
            keepGiven(newToken, for: token, in: &document)
            for index in document.credentials.indices where document.credentials[index].webAuthToken == token
            {
                document.credentials[index].webAuthToken = newToken
            }
        }
        state.withLock { if $0.entry?.webAuthToken == token { $0.entry?.webAuthToken = newToken } }
    }
}
