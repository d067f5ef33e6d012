internal import CloudKit
internal import System

/// Fetching a page of a zone's changes, or records that have fields which the previous version of the app left out.
extension SyncJob {
    /// Maximum number of records in one request that servers accept.
    private static let wantedRecordsMax = 200

    func fetch(_ zoneID: CKRecordZone.ID) {
        guard let handler = runner.zoneHandler, let cloud = cloudDatabase() else { return }
        let position = read { ext in
            (
                text: try ext.tables.tokens.token(zoneID, key),
                wanted: try ext.tables.tokens.fullFetch(zoneID, key) == .newFields
                    ? try ext.tables.tokens.wantedRecords(zoneID, key, limit: Self.wantedRecordsMax) : []
            )
        }
        guard let (text, wanted) = position else { return }
        guard wanted.isEmpty else { return fetch(wanted, zoneID, handler, cloud) }
        let token = text.flatMap { CKServerChangeToken(storedText: $0) }
        let operation = CKFetchRecordZoneChangesOperation.page(
            of: zoneID, since: token, countsRecords: environment.verifiesZones, files: handler.fileHandling
        ) { result in
            switch result {
            case .failure(let error): post(.fetchFailed(key, zoneID, error))
            case .success(let page): apply(page, since: text, handler)
            }
        }
        start(operation, in: cloud)
    }

    /// Applies a page if it continues from the stored token. It doesn't if the operation was cancelled and a newer page
    /// came, if the token was dropped meanwhile, or if another account is in use now. Then the zone is fetched again.
    private func apply(_ page: SyncPage, since token: String?, _ handler: SyncZoneHandler) {
        guard session.hasOperation(attempt: attempt) else { return }
        guard takeFiles(of: page.changed) else { return }
        let written = write { transaction, ext in
            let stored = try ext.tables.tokens.token(page.zoneID, key)
            guard stored == token, try key.account == ext.tables.accounts.currentAccount() else {
                return (moreComing: true, verdict: ZoneVerdict.nothing)
            }
            try handler.applyPage(transaction, ext, key, page)
            let verdict = try verdict(on: page, ext)
            return (moreComing: page.moreComing || verdict.isFetchedAnew, verdict: verdict)
        }
        guard let (applied, count) = written else { return }
        runner.progress.fetched(page.changed.count + page.deleted.count)
        report(applied.verdict, of: page.zoneID)
        if let version = page.schemaVersion { runner.post(.schemaVersion(key, version), start: sessionStart) }
        post(.pageApplied(key, page.zoneID, moreComing: applied.moreComing, count))
    }

    // MARK: The checksum

    /// Compares the zone's checksum with that of the page, in the transaction that applied the page.
    private func verdict(on page: SyncPage, _ ext: YapDatabaseCloudKitTransaction) throws -> ZoneVerdict {
        guard let comparison = ext.zones.comparison else { return .nothing }
        return try ext.zones.settle(comparison, page.zoneID, key, now: environment.clock.nowMilliseconds())
    }

    /// Reports a zone that differs, to the app and to `yap sync inspect`.
    private func report(_ verdict: ZoneVerdict, of zoneID: CKRecordZone.ID) {
        let text: String
        switch verdict {
        case .nothing: return
        case .fetchesAnew(let difference):
            text = "zone \(zoneID.zoneName): \(difference); it is fetched anew"
        case .stillDiffers(let difference):
            text =
                "zone \(zoneID.zoneName): \(difference), also after it was fetched anew; it is tried again later"
        }
        runner.report(.saying(.internalError, text), key, start: sessionStart)
    }

    // MARK: New fields

    /// Fetches wanted records of a zone. If they are too many for the server, it fetches fewer.
    private func fetch(
        _ wanted: [CKRecord.ID], _ zoneID: CKRecordZone.ID, _ handler: SyncZoneHandler,
        _ cloud: CloudDatabase
    ) {
        let operation = CKFetchRecordsOperation.fetching(wanted, files: handler.fileHandling) { results in
            do throws(CKError) {
                apply(try results.found(), of: wanted, zoneID, handler)
            } catch let error where error.code == .limitExceeded && wanted.count > 1 {
                fetch(Array(wanted.prefix(wanted.count / 2)), zoneID, handler, cloud)
            } catch {
                post(.fetchFailed(key, zoneID, error))
            }
        }
        start(operation, in: cloud)
    }

    private func apply(
        _ records: [CKRecord], of wanted: [CKRecord.ID], _ zoneID: CKRecordZone.ID,
        _ handler: SyncZoneHandler
    ) {
        guard session.hasOperation(attempt: attempt) else { return }
        guard takeFiles(of: records) else { return }
        let written = write { transaction, ext in
            // Another account may be in use now, or everything may have been fetched meanwhile.
            guard try key.account == ext.tables.accounts.currentAccount(),
                try ext.tables.tokens.fullFetch(zoneID, key) == .newFields
            else { return }
            try handler.applyWanted(transaction, ext, key, wanted, records)
            try ext.zones.endFetchOfNewFields(zoneID, key)
        }
        guard let count = written?.count else { return }
        runner.progress.fetched(records.count)
        post(.pageApplied(key, zoneID, moreComing: true, count))
    }
}

extension ZoneVerdict {
    fileprivate var isFetchedAnew: Bool { if case .fetchesAnew = self { true } else { false } }
}

extension [CKRecord.ID: Result<CKRecord, CKError>] {
    /// The records that exist.
    /// - Throws: The error of a record that couldn't be fetched.
    fileprivate func found() throws(CKError) -> [CKRecord] {
        var records: [CKRecord] = []
        for (_, result) in sorted(by: { $0.key.recordName < $1.key.recordName }) {
            switch result {
            case .success(let record): records.append(record)
            case .failure(let error) where error.code == .unknownItem: continue
            case .failure(let error): throw error
            }
        }
        return records
    }
}
