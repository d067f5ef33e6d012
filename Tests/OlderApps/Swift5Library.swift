import CloudKit
import Foundation

// As an app of 2021 looks: both feeds, Result blocks, tokens in the defaults, secure coding.

final class LibrarySync {
    enum Change: Equatable {
        case saved(String, String?)
        case deleted(String, String)
        case zoneGone(String)
    }

    private let database: CKDatabase
    private let defaults: UserDefaults
    private(set) var changes: [Change] = []
    private let group: CKOperationGroup = {
        let group = CKOperationGroup()
        group.name = "library"
        group.expectedReceiveSize = .kilobytes
        return group
    }()

    init(database: CKDatabase = CKContainer.default().privateCloudDatabase, defaults: UserDefaults) {
        self.database = database
        self.defaults = defaults
    }

    private func token(_ key: String) -> CKServerChangeToken? {
        guard let data = defaults.data(forKey: key) else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
    }

    private func keep(_ token: CKServerChangeToken?, _ key: String) {
        guard let token = token else { return defaults.removeObject(forKey: key) }
        let data = try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        defaults.set(data, forKey: key)
    }

    func fetchChanges(completion: @escaping (Result<Int, Error>) -> Void) {
        var changed: [CKRecordZone.ID] = []
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token("database"))
        operation.group = group
        operation.recordZoneWithIDChangedBlock = { changed.append($0) }
        operation.recordZoneWithIDWasDeletedBlock = { [unowned self] zoneID in
            changes.append(.zoneGone(zoneID.zoneName))
            keep(nil, zoneID.zoneName)
        }
        operation.changeTokenUpdatedBlock = { [unowned self] in keep($0, "database") }
        operation.fetchDatabaseChangesResultBlock = { [self] result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let (token, moreComing)):
                precondition(!moreComing)
                keep(token, "database")
                guard !changed.isEmpty else { return completion(.success(0)) }
                fetch(changed, completion)
            }
        }
        database.add(operation)
    }

    private func fetch(_ zoneIDs: [CKRecordZone.ID], _ completion: @escaping (Result<Int, Error>) -> Void) {
        let configurations = Dictionary(
            uniqueKeysWithValues: zoneIDs.map { zoneID in
                (
                    zoneID,
                    CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                        previousServerChangeToken: token(zoneID.zoneName), resultsLimit: 2,
                        desiredKeys: ["title"])
                )
            })
        var count = 0
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zoneIDs, configurationsByRecordZoneID: configurations)
        operation.group = group
        operation.recordWasChangedBlock = { [self] recordID, result in
            count += 1
            let record = try? result.get()
            changes.append(.saved(recordID.recordName, record?.value(forKey: "title") as? String))
        }
        operation.recordWithIDWasDeletedBlock = { [self] recordID, recordType in
            count += 1
            changes.append(.deleted(recordID.recordName, recordType))
        }
        operation.recordZoneChangeTokensUpdatedBlock = { [self] zoneID, token, _ in
            keep(token, zoneID.zoneName)
        }
        operation.recordZoneFetchResultBlock = { [self] zoneID, result in
            if case .success(let end) = result { keep(end.serverChangeToken, zoneID.zoneName) }
        }
        operation.fetchRecordZoneChangesResultBlock = { result in
            completion(result.map { count })
        }
        operation.configuration.qualityOfService = .userInitiated
        database.add(operation)
    }
}
