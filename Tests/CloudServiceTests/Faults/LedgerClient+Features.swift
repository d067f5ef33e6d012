import CloudService
import CloudStore
import CloudWire
import System
import Testing

/// What else the records of a group have.
struct GroupForm {
    var recordType = "todo"
    /// A field that the type may not have yet.
    var extraField: String?
    /// The first record's file, which was sent before.
    var file: (bytes: [UInt8], asset: Asset)?

    static let plain = GroupForm()
    static func watchedType(_ client: String) -> String { "Watched_\(client)" }
}

/// What the service can besides plain saves: types and fields as they come, files, queries, query subscriptions.
extension LedgerClient {
    /// Sends a file for the first record of a group. Nil when it was refused.
    func upload(_ group: Group, bytes: Int) throws -> (bytes: [UInt8], asset: Asset)? {
        var request = AssetsUploadRequest(tokens: [.init(fieldName: "file", recordName: names(group)[0])])
        request.zoneID = zone(group.scope)
        let answer = try ask("assets/upload", request, group.scope)
        guard answer.status == 200 else {
            _ = outcome(answer, "\(name) asks where to send a file")
            return nil
        }
        let url = try AssetsUploadResponse(json: answer.body).tokens[0].url
        let random = SeededRandomSource(seed: UInt64(lastNumber) &+ UInt64(name.utf8.first ?? 0))
        let content = (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        do {
            let upload = try cloud.service.beginUpload(ticket: String(url.split(separator: "?t=").last ?? ""))
            try upload.write(content)
            return (content, try upload.finish().singleFile)
        } catch {
            // Nobody was told that it was kept.
            guard [.tryAgainLater, .internalError].contains(error.serverErrorCode) else {
                wrong.append("\(name): the file: \(error)")
                return nil
            }
            return nil
        }
    }

    /// Subscribes to what is made of a type of this client's own.
    func subscribe() throws {
        var subscription = WireSubscription(subscriptionID: "watch-\(name)", subscriptionType: .query)
        subscription.query = RecordQuery(recordType: GroupForm.watchedType(name))
        subscription.zoneID = TestService.zone
        subscription.firesOn = [.create]
        let request = SubscriptionsModifyRequest(operations: [
            .init(operationType: .create, subscription: subscription)
        ])
        let answer = try ask("subscriptions/modify", request, .private)
        guard answer.status == 200 else {
            _ = outcome(answer, "\(name) subscribes")
            return
        }
        if case .subscription? = try SubscriptionsResponse(json: answer.body).subscriptions.first {
            isSubscribed = true
        }
    }

    /// Everything once; each step goes on from where the one before came to.
    func useFeatures() throws {
        let (first, second) = (Group(scope: .private, number: 0), Group(scope: .private, number: 1))
        var form = GroupForm(recordType: GroupForm.watchedType(name), extraField: "extra0")
        try write(first, form: form)
        try subscribe()
        form.extraField = "extra1"
        form.file = try upload(second, bytes: 3_000)
        try write(second, form: form)
        try write(first, deletes: true)
        form.file = try upload(second, bytes: 2_000)
        try write(second, form: form)
    }

    /// What doesn't fit of what the features left in `cloud`.
    func featureDifferences(from cloud: TestService, _ when: String) throws -> [String] {
        var differences: [String] = []
        var expected: [String] = []
        for group in possible.keys where group.scope == .private {
            let records = try cloud.lookup(names(group)).compactMap(\.record)
            guard let record = records.first, record.recordType == GroupForm.watchedType(name),
                case .int64(let number)? = record.fields["number"]?.value
            else { continue }
            expected += names(group)
            if let bytes = files[number] {
                let found = try? cloud.file(record.fields["file"])
                if found != bytes {
                    differences.append("\(when): \(name) \(group): the file of \(number) is lost")
                }
            }
        }
        differences += try queryDifferences(from: cloud, expected, when)
        let told = try cloud.collection().compactMap { $0.ck.cause?.recordName }.filter {
            $0.hasPrefix("\(name)-")
        }
        let untold = tellable.subtracting(told)
        if !untold.isEmpty { differences.append("\(when): \(name): nobody was told of \(untold.sorted())") }
        if Set(told).count < told.count {
            differences.append("\(when): \(name): told twice: \(told.sorted())")
        }
        return differences
    }

    private func queryDifferences(
        from cloud: TestService, _ expected: [String], _ when: String
    ) throws -> [String] {
        guard !expected.isEmpty else { return [] }
        let query = RecordQuery(
            recordType: GroupForm.watchedType(name), sortBy: [RecordSort(fieldName: "number")])
        let found = try cloud.ask(
            "records/query", RecordsQueryRequest(query: query, zoneID: TestService.zone),
            as: RecordsQueryResponse.self
        ).records.compactMap(\.recordName).sorted()
        return found == expected.sorted() ? [] : ["\(when): \(name): a query finds \(found), not \(expected)"]
    }
}

extension TestService {
    /// The bytes of a fetched field's file.
    func file(_ field: Field?) throws -> [UInt8] {
        guard case .asset(let asset)? = field?.value, let url = asset.downloadURL else { return [] }
        let parts = url.split(separator: "/")
        let file = try service.openAsset(
            checksum: String(parts[parts.count - 2]), ticket: String(url.split(separator: "?t=").last ?? ""))
        return try file.read(at: 0, bytesMax: 1 << 20)
    }
}
