public import CloudKit
import CloudWire
import Foundation

extension CKContainer {
    /// Signs a user in: requests a token from the server, and stores it in the container's credential file. Posts
    /// `CKAccountChanged`.
    ///
    /// ```swift
    /// let userID = try await CKContainer.default().signIn(account: "ada", password: password)
    /// ```
    ///
    /// - Parameters:
    ///   - account: the name of the account on the server.
    ///   - password: its password.
    /// - Returns: the ID of the user's own record.
    /// - Throws: `CKError.notAuthenticated` for an unknown account or a wrong password, `missingEntitlement` for an
    ///   unknown API token, `requestRateLimited` after too many attempts, `badContainer` if the server doesn't have the
    ///   container, or if the container names no server or has a configured token; another error of a request.
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

    /// Removes the user's token from the credential file. Posts `CKAccountChanged`.
    /// - Throws: `CKError.badContainer` if the container names no server, or its credential file can't be written.
    public func signOut() throws {
        let resolved = try self.resolved()
        try resolved.connection.signInAccount(resolved.identifier).signOut()
        NotificationCenter.default.post(name: .CKAccountChanged, object: self)
    }
}

extension CloudConnection {
    /// Returns the account for sign-ins.
    fileprivate func signInAccount(_ identifier: String) throws(CKError) -> FileAccount {
        guard let account = account as? FileAccount, account.takesSignIns else {
            throw CKError(
                .badContainer,
                """
                The container \(identifier) has a user's token in its configuration \
                (CLOUDKIT_WEB_AUTH_TOKEN, or webAuthToken of the call): remove it to sign in.
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
            // Sent without a credential, because an old token has nothing to do with this sign-in.
            _ = transport.send(request, timeouts: .total(60)) { continuation.resume(returning: $0) }
        }
        return try ResponseDecoder.decode(SignInResponse.self, from: reply)
    }
}
