import CloudStore
import SQLite
import SQLiteTestSupport
import Testing

/// What every store promises of files, sizes, usage and secrets.
@Suite struct AssetStoreTests {
    let folder: TemporaryFolder
    private let bobs = ZoneKey(database: .privateDatabase(of: "_bob"), zoneName: "todos")

    init() throws {
        folder = try TemporaryFolder()
    }

    private func use(_ byte: UInt8, _ bytes: Int64) -> AssetUse {
        AssetUse(digest: [UInt8](repeating: byte, count: 32), bytes: bytes)
    }

    private func owned(_ use: AssetUse, in zone: ZoneKey) -> OwnedAsset {
        OwnedAsset(database: zone.database, digest: use.digest)
    }

    @Test(arguments: TestStore.all) func aFileIsFoundByItsOwnerAsLongAsARecordHoldsIt(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        let (photo, sound) = (use(1, 100), use(2, 7))
        try store.apply {
            $0.records = [Rows.record("a", counter: 1), Rows.record("b", counter: 2)]
            $0.assets = [
                RecordAssetsRow(key: Rows.key("a"), uses: [photo, sound]),
                RecordAssetsRow(key: Rows.key("b"), uses: [photo]),
            ]
        }
        func found() throws -> [OwnedAsset: Int64] {
            try store.load {
                $0.assets.owned = [
                    owned(photo, in: Rows.zone), owned(sound, in: Rows.zone), owned(photo, in: bobs),
                ]
            }.assets.owned
        }
        func used() throws -> Set<[UInt8]> {
            try store.load { $0.assets.digests = [photo.digest, sound.digest, use(3, 0).digest] }.assets
                .usedDigests
        }
        #expect(try found() == [owned(photo, in: Rows.zone): 100, owned(sound, in: Rows.zone): 7])
        #expect(try used() == [photo.digest, sound.digest])
        // Another set takes the place of the first.
        try store.apply { $0.assets = [RecordAssetsRow(key: Rows.key("a"), uses: [photo])] }
        #expect(try used() == [photo.digest])
        // A tombstone holds nothing, and neither does a record that is gone.
        try store.apply { $0.records = [Rows.record("a", counter: 3, isDeleted: true)] }
        #expect(try found() == [owned(photo, in: Rows.zone): 100])
        try store.apply { $0.removedRecords = [Rows.key("b")] }
        #expect(try found() == [:])
        #expect(try used() == [])
    }

    @Test(arguments: TestStore.all) func aClearedZoneHoldsNoFiles(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let photo = use(1, 100)
        try store.apply {
            $0.records = [Rows.record("a", counter: 1), Rows.record("a", counter: 1, in: bobs)]
            $0.assets = [
                RecordAssetsRow(key: Rows.key("a"), uses: [photo]),
                RecordAssetsRow(key: Rows.key("a", in: bobs), uses: [photo]),
            ]
        }
        try store.apply { $0.clearedZones = [Rows.zone] }
        let found = try store.load {
            $0.assets.owned = [owned(photo, in: Rows.zone), owned(photo, in: bobs)]
        }
        #expect(found.assets.owned == [owned(photo, in: bobs): 100])
    }

    @Test(arguments: TestStore.all) func sizesCountRecordsFieldsAndFiles(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.apply {
            $0.records = [
                Rows.record("a", counter: 1, fields: [1, 2, 3, 4]), Rows.record("b", counter: 2, fields: []),
                Rows.record("gone", counter: 3, isDeleted: true), Rows.record("a", counter: 1, in: bobs),
            ]
            $0.assets = [RecordAssetsRow(key: Rows.key("a"), uses: [use(1, 100), use(2, 7)])]
        }
        let found = try store.load {
            $0.assets.sizesOf = ["a", "b", "gone", "none"].map { Rows.key($0) }
        }.assets
        #expect(
            found.sizes == [
                Rows.key("a"): StoredSize(records: 1, recordBytes: 4, assetBytes: 107),
                Rows.key("b"): StoredSize(records: 1),
            ])
    }

    @Test(arguments: TestStore.all) func usageAndSecretsAreKept(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let ada = UsageRow(
            key: UsageKey(scope: .privateDatabase, user: "_ada"),
            size: StoredSize(records: 3, recordBytes: 1 << 40, assetBytes: 5))
        let makers = UsageRow(
            key: UsageKey(scope: .publicDatabase, user: "_ada"), size: StoredSize(records: 1))
        try store.apply {
            $0.usage = [ada, makers]
            $0.secrets = [SecretRow(name: "assets", value: [1, 2, 3])]
        }
        var found = try store.load {
            $0.usageOf = [ada.key, makers.key, UsageKey(scope: .privateDatabase, user: "_bob")]
            $0.assets.secrets = ["assets", "none"]
            $0.assets.countsPrivateUsers = true
        }
        #expect(found.usage == [ada.key: ada, makers.key: makers])
        #expect(found.assets.secrets == ["assets": [1, 2, 3]])
        #expect(found.assets.privateUsersCount == 1)
        try store.apply {
            $0.usage = [UsageRow(key: ada.key)]
            $0.secrets = [SecretRow(name: "assets", value: [])]
        }
        found = try store.load {
            $0.usageOf = [ada.key]
            $0.assets.secrets = ["assets"]
        }
        #expect(found.usage == [ada.key: UsageRow(key: ada.key)])
        #expect(found.assets.secrets == ["assets": []])
    }
}
