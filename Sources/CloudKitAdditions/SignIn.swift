public import CloudKit
import CloudWire
import Foundation

extension CKContainer {
    /// Signs a user in: asks the server for a token and keeps it in the container's credential file. Posts
    /// `CKAccountChanged`.
    /// - Returns: the ID of the user's own record.
    /// - Throws: `CKError.notAuthenticated` when the server doesn't know the account or the password,
    ///   `missingEntitlement` for an API token that it doesn't know, `requestRateLimited` after too many tries,
    ///   `badContainer` when the server doesn't have the container, or the container names no cloud or has its token
    ///   from the configuration, and what else a request can meet.
    @discardableResult
    public func signIn(account: String, password: String) async throws -> CKRecord.ID {
        let resolved = try self.resolved()
        let kept = try resolved.connection.signInAccount(resolved.identifier)
        let request = SignInRequest(
            account: account, password: password, container: resolved.identifier,
            environment: resolved.connection.environment, apiToken: try kept.credential().apiToken)
        let response = try await resolved.connection.signIn(request)
        try kept.signIn(
            webAuthToken: response.webAuthToken, userRecordName: response.userRecordName,
            expiresAtMilliseconds: response.expiresAtMilliseconds)
        NotificationCenter.default.post(name: .CKAccountChanged, object: self)
        return CKRecord.ID(recordName: response.userRecordName)
    }

    /// Forgets the user's token. Posts `CKAccountChanged`.
    /// - Throws: `CKError.badContainer` when the container names no cloud, or its credential file can't be written.
    public func signOut() throws {
        let resolved = try self.resolved()
        try resolved.connection.signInAccount(resolved.identifier).signOut()
        NotificationCenter.default.post(name: .CKAccountChanged, object: self)
    }
}

extension CloudConnection {
    /// The account that can be signed in to and out of.
    fileprivate func signInAccount(_ identifier: String) throws(CKError) -> FileAccount {
        guard let account = account as? FileAccount, account.takesSignIns else {
            throw CKError(
                .badContainer,
                """
                The container \(identifier) has its user's token from the configuration \
                (CLOUDKIT_WEB_AUTH_TOKEN, or webAuthToken of the call): take it away to sign in.
                """)
        }
        return account
    }

    fileprivate func signIn(_ message: SignInRequest) async throws -> SignInResponse {
        let request = WireRequest(
            path: "/yap/1/sign-in",
            headers: [("Content-Type", "application/json"), (WireHeader.client, "1")],
            body: try message.json())
        let reply = await withCheckedContinuation { continuation in
            // Straight to the transport: an old token says nothing about who signs in.
            _ = transport.send(request, timeoutSeconds: 60) { continuation.resume(returning: $0) }
        }
        return try ResponseDecoder.decode(SignInResponse.self, from: reply)
    }
}
