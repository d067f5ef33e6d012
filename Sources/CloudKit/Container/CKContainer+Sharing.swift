public import Foundation
internal import System

// Each runs the operation of sharing that does its work, and so ends as that does.
extension CKContainer {
    // MARK: Share participants

    /// Looks up a share participant by an email address.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipant(forEmailAddress emailAddress: String) async throws -> CKShare.Participant {
        try await shareParticipant(CKUserIdentityLookupInfo(emailAddress: emailAddress))
    }

    /// Looks up a share participant by a telephone number.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        try await shareParticipant(CKUserIdentityLookupInfo(phoneNumber: phoneNumber))
    }

    /// Looks up a share participant by a user record.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        try await shareParticipant(CKUserIdentityLookupInfo(userRecordID: userRecordID))
    }

    /// Looks up a share participant by an email address, and calls `completionHandler` with the participant or the
    /// error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        _ = startParticipant(CKUserIdentityLookupInfo(emailAddress: emailAddress)) {
            completionHandler($0.value, $0.error)
        }
    }

    /// Looks up a share participant by a telephone number, and calls `completionHandler` with the participant or the
    /// error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        _ = startParticipant(CKUserIdentityLookupInfo(phoneNumber: phoneNumber)) {
            completionHandler($0.value, $0.error)
        }
    }

    /// Looks up a share participant by a user record, and calls `completionHandler` with the participant or the error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        _ = startParticipant(CKUserIdentityLookupInfo(userRecordID: userRecordID)) {
            completionHandler($0.value, $0.error)
        }
    }

    private func shareParticipant(_ info: CKUserIdentityLookupInfo) async throws -> CKShare.Participant {
        try await publicCloudDatabase.result { self.startParticipant(info, $0) }
    }

    private func startParticipant(
        _ info: CKUserIdentityLookupInfo,
        _ completion: @escaping @Sendable (Result<CKShare.Participant, any Error>) -> Void
    ) -> CKOperation {
        startParticipants([info], by: { $0 }) { result in completion(result.flatMap { $0.only(info) }) }
    }

    // MARK: Share participants, several

    /// Looks up share participants by email addresses.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipants(
        forEmailAddresses emailAddresses: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = CKUserIdentityLookupInfo.lookupInfos(withEmails: emailAddresses)
        return try await publicCloudDatabase.result {
            self.startParticipants(infos, by: { $0.emailAddress }, $0)
        }
    }

    /// Looks up share participants by telephone numbers.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = CKUserIdentityLookupInfo.lookupInfos(withPhoneNumbers: phoneNumbers)
        return try await publicCloudDatabase.result {
            self.startParticipants(infos, by: { $0.phoneNumber }, $0)
        }
    }

    /// Looks up share participants by user records.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        let infos = CKUserIdentityLookupInfo.lookupInfos(with: userRecordIDs)
        return try await publicCloudDatabase.result {
            self.startParticipants(infos, by: { $0.userRecordID }, $0)
        }
    }

    /// Looks up share participants by email addresses, and calls `completionHandler` with each, or its error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emailAddresses: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = CKUserIdentityLookupInfo.lookupInfos(withEmails: emailAddresses)
        _ = startParticipants(infos, by: { $0.emailAddress }, completionHandler)
    }

    /// Looks up share participants by telephone numbers, and calls `completionHandler` with each, or its error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = CKUserIdentityLookupInfo.lookupInfos(withPhoneNumbers: phoneNumbers)
        _ = startParticipants(infos, by: { $0.phoneNumber }, completionHandler)
    }

    /// Looks up share participants by user records, and calls `completionHandler` with each, or its error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        let infos = CKUserIdentityLookupInfo.lookupInfos(with: userRecordIDs)
        _ = startParticipants(infos, by: { $0.userRecordID }, completionHandler)
    }

    private func startParticipants<Key: Hashable & Sendable>(
        _ infos: [CKUserIdentityLookupInfo], by key: @escaping @Sendable (CKUserIdentityLookupInfo) -> Key?,
        _ completion:
            @escaping @Sendable (Result<[Key: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: infos)
        let found = Lock<[Key: Result<CKShare.Participant, any Error>]>([:])
        operation.perShareParticipantResultBlock = { info, result in
            if let key = key(info) { found.withLock { $0[key] = result } }
        }
        operation.fetchShareParticipantsResultBlock = { result in
            completion(result.map { found.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    // MARK: Metadata of shares

    /// Fetches the metadata of the share at `url`.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await publicCloudDatabase.result { self.startMetadata(url, $0) }
    }

    /// Fetches the metadata of the shares at `urls`.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await publicCloudDatabase.result { self.startMetadatas(urls, $0) }
    }

    /// Fetches the metadata of the share at `url`, and calls `completionHandler` with it or the error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        _ = startMetadata(url) { completionHandler($0.value, $0.error) }
    }

    /// Fetches the metadata of the shares at `urls`, and calls `completionHandler` with each, or its error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) {
        _ = startMetadatas(urls, completionHandler)
    }

    private func startMetadata(
        _ url: URL, _ completion: @escaping @Sendable (Result<CKShare.Metadata, any Error>) -> Void
    ) -> CKOperation {
        startMetadatas([url]) { result in completion(result.flatMap { $0.only(url) }) }
    }

    private func startMetadatas(
        _ urls: [URL],
        _ completion:
            @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKFetchShareMetadataOperation(shareURLs: urls)
        let found = Lock<[URL: Result<CKShare.Metadata, any Error>]>([:])
        operation.perShareMetadataResultBlock = { url, result in found.withLock { $0[url] = result } }
        operation.fetchShareMetadataResultBlock = { result in
            completion(result.map { found.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    // MARK: Invitations

    /// Accepts the share that `metadata` describes.
    /// - Returns: the share.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await publicCloudDatabase.result { self.startAccept(metadata, $0) }
    }

    /// Accepts the shares that `metadatas` describe.
    /// - Returns: each share, or its error.
    /// - Throws: `CKError.serverRejectedRequest`: sharing isn't available yet.
    /// - Note: Coming: with sharing.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await publicCloudDatabase.result { self.startAccept(metadatas, $0) }
    }

    /// Accepts the share that `metadata` describes, and calls `completionHandler` with the share or the error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        _ = startAccept(metadata) { completionHandler($0.value, $0.error) }
    }

    /// Accepts the shares that `metadatas` describe, and calls `completionHandler` with each share, or its error.
    /// - Note: Coming: with sharing.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) -> Void
    ) {
        _ = startAccept(metadatas, completionHandler)
    }

    private func startAccept(
        _ metadata: CKShare.Metadata, _ completion: @escaping @Sendable (Result<CKShare, any Error>) -> Void
    ) -> CKOperation {
        startAccept([metadata]) { result in completion(result.flatMap { $0.only(metadata) }) }
    }

    private func startAccept(
        _ metadatas: [CKShare.Metadata],
        _ completion:
            @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
        let taken = Lock<[CKShare.Metadata: Result<CKShare, any Error>]>([:])
        operation.perShareResultBlock = { metadata, result in taken.withLock { $0[metadata] = result } }
        operation.acceptSharesResultBlock = { result in completion(result.map { taken.withLock { $0 } }) }
        add(operation)
        return operation
    }
}
