internal import CloudWire
import Foundation
internal import System

/// The user of a container according to the credential file. The file is read again after each change, so a sign-in in
/// another process takes effect.
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
    /// The configured token; the file then has its current replacement.
    private let givenToken: String?
    private let state: Lock<State>

    /// Makes the account of a container's user.
    /// - Parameters:
    ///   - deviceID: nil takes the ID beside the file, and creates it if it doesn't exist.
    ///   - givenToken: a configured token; nil for the token of the signed-in user.
    ///   - watch: reports changes by other processes; with nil, the next request sees them.
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

    /// Reads the file if it has changed.
    /// - Returns: true if the user has changed.
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
        // An older file may have an entry for each name of this machine.
        let kept = ours.first { $0.server == server } ?? ours.first
        guard let givenToken, kept?.replacesToken != givenToken else { return kept }
        return CredentialsDocument.Entry(
            server: server, container: container, environment: environment, webAuthToken: givenToken)
    }

    /// True if users sign in and out; false if the configuration has the token.
    package var takesSignIns: Bool { givenToken == nil }

    private static func isOther(
        _ entry: CredentialsDocument.Entry?, than before: CredentialsDocument.Entry?
    ) -> Bool {
        // A new token of the same user is no change of the account.
        entry?.userRecordName != before?.userRecordName || (entry == nil) != (before == nil)
    }

    /// Stores a sign-in.
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

    /// Removes the sign-in.
    package func signOut() throws(CKError) {
        try change { file throws(CKError) in
            try file.remove(server: server, container: container, environment: environment)
        }
    }

    /// Writes the file, and reads it immediately, so that this process doesn't treat its own change as
    /// another process's.
    private func change(_ write: (CredentialFile) throws(CKError) -> Void) throws(CKError) {
        let isOtherUser = try state.withLock { state throws(CKError) in
            // The previous user must be known to detect a change. Another process may have changed it.
            let wasOtherUser = try refresh(&state)
            try write(file)
            return try refresh(&state) || wasOtherUser
        }
        if isOtherUser { tellHandlers(isOurs: true) }
    }

    private func tellHandlers(isOurs: Bool) {
        for handler in state.withLock({ $0.handlers }) { handler(isOurs) }
    }

    /// Stores the replacement of the configured token for the next process.
    private func keepGiven(_ newToken: String, for token: String, in document: inout CredentialsDocument) {
        guard let givenToken, token == givenToken else { return }
        document.credentials.removeAll { $0.isFor(server, container, environment) }
        var entry = CredentialsDocument.Entry(
            server: server, container: container, environment: environment, webAuthToken: newToken)
        entry.replacesToken = givenToken
        document.credentials.append(entry)
    }

    package func replace(_ token: String, with newToken: String) {
        // If the file can't be written, this process still has the token, and the next sign-in corrects the file.
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
