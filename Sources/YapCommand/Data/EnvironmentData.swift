import CloudServer
import CloudService
import CloudStore
import CloudWire
import System

/// Files of an environment, opened beside the server that may be serving them.
struct EnvironmentData {
    let folder: DataFolder
    let control: ControlStore
    let container: CloudService.Container

    init(folder: DataFolder, control: ControlStore, container: CloudService.Container) {
        self.folder = folder
        self.control = control
        self.container = container
    }

    /// Resolves `--container` and `--environment`.
    init(_ invocation: Invocation, _ console: Console) throws {
        control = try invocation.control(console)
        folder = invocation.dataFolder(console)
        container = CloudService.Container(
            identifier: try invocation.container(in: control, console),
            environment: try invocation.environment())
        guard
            try control.containers.serves(container: container.identifier, environment: container.environment)
        else {
            throw ControlError.isBeingRemoved(
                container: container.identifier, environment: container.environment)
        }
    }

    /// Runs `body` with the service over the files, which are created if they don't exist.
    func withService<Result>(_ body: (CloudService) throws -> Result) throws -> Result {
        let hold = try folder.mustHold(
            container: container.identifier, environment: container.environment, in: control)
        defer { withExtendedLifetime(hold) {} }
        let store = try SQLiteCloudStore(
            path: folder.storePath(
                container: container.identifier, environment: container.environment, makesFolders: true))
        let sibling = try folder.siblingStore(of: container)
        defer {
            sibling.close()
            store.close()
        }
        let options = try ServeSettings.kept(in: folder).options
        let files = DiskAssetStore(
            path: try folder.assetsPath(
                container: container.identifier, environment: container.environment),
            clock: SystemTimeSource())
        return try body(
            CloudService(
                store: store, clock: SystemTimeSource(), random: SystemRandomSource(), container: container,
                accounts: LocalAccounts(), limits: options.limits, settings: options.settings,
                assetFiles: files, usageElsewhere: { sibling.usage(of: $0) }))
    }

    /// Returns the account's record name in the container.
    func userRecordName(ofAccount name: String) throws -> String {
        guard let account = try control.accounts.find(named: name) else {
            throw ControlError.noSuchAccount(name: name)
        }
        return try control.accounts.userRecordName(of: account, container: container.identifier)
    }

    /// Deletes the tokens with which an account's devices receive notifications. Creates no file.
    func forgetDevices(ofAccount name: String) throws {
        let path = try folder.storePath(
            container: container.identifier, environment: container.environment)
        guard try StoreFile(path: path) != nil else { return }
        let user = try userRecordName(ofAccount: name)
        _ = try withService { try $0.tokens.forgetDevices(of: user) }
    }

    /// Deletes all data in the account's private database, and returns the number of records.
    func erase(account: String) throws -> Int {
        let database = StoredDatabaseKey.privateDatabase(of: try userRecordName(ofAccount: account))
        guard
            let file = try StoreFile(
                path: folder.storePath(container: container.identifier, environment: container.environment))
        else { return 0 }
        return try withService { service in
            var erased = 0
            for zone in try RecordSource.zoneNames(in: database, file) {
                let key = ZoneKey(database: database, zoneName: zone)
                while true {
                    let page = try file.read {
                        try $0.records(in: key, after: nil, recordsMax: 200, bytesMax: 16 << 20)
                    }
                    guard !page.rows.isEmpty else { break }
                    erased += page.rows.count
                    let operations = page.rows.map {
                        RecordOperation(
                            operationType: .forceDelete, record: WireRecord(recordName: $0.key.recordName))
                    }
                    let request = RecordsModifyRequest(
                        operations: operations, zoneID: ZoneID(zoneName: zone), atomic: false)
                    let body = try ask(service, "records/modify", account: account, request)
                    for case .error(let error) in try RecordsModifyResponse(json: body).records {
                        throw Failure.refused(error.reason ?? error.serverErrorCode.rawValue)
                    }
                }
                if zone != ZoneID.defaultZoneName {
                    try changeZone(zone, .delete, service, account: account)
                }
            }
            // Deletes the rows now, because a server that would do it later may never run.
            try service.clearedRows.removeAll()
            return erased
        }
    }

    /// Creates or deletes a custom zone of the account.
    func changeZone(
        _ name: String, _ kind: ZoneOperation.Kind, _ service: CloudService, account: String
    ) throws {
        let operation = ZoneOperation(
            operationType: kind, zone: WireZone(zoneID: ZoneID(zoneName: name)))
        let body = try ask(
            service, "zones/modify", account: account, ZonesModifyRequest(operations: [operation]))
        for case .error(let error) in try ZonesModifyResponse(json: body).zones {
            throw Failure.refused("zone \(name): \(error.reason ?? error.serverErrorCode.rawValue)")
        }
    }

    /// Sends the service a request of the account's user, and returns the body of the response.
    func ask(
        _ service: CloudService, _ endpoint: String, account: String, database: String = "private",
        _ message: some JSONMessage
    ) throws -> [UInt8] {
        let path = "/database/1/\(container.identifier)/\(container.environment)/\(database)/\(endpoint)"
        let response = service.respond(
            to: WireRequest(
                path: path, query: [(WireHeader.webAuthTokenItem, try userRecordName(ofAccount: account))],
                headers: [(WireHeader.client, "1")], body: try message.json(extras: true)))
        guard response.status == 200 else {
            let error = try? WireError(json: response.body)
            throw Failure.refused(error?.reason ?? "the service answered \(response.status)")
        }
        return response.body
    }
}

/// Lets an operator with access to the files act as any user: a token is the user's record name.
private struct LocalAccounts: ServiceAccounts {
    func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
        ServiceUser(userRecordName: webAuthToken)
    }

    func admits(apiToken: String?, container: CloudService.Container) -> Bool { true }
}
