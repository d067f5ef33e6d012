import CloudStore
import SQLiteTestSupport
import Testing

@Suite struct CollectionLockTests {
    @Test func nothingIsCollectedWhileABackupRuns() throws {
        let folder = try TemporaryFolder()
        let data = DataFolder(path: folder.path)
        var step = try data.holdForCollection()
        var other = try data.holdForCollection()
        #expect(step != nil && other != nil, "two environments collect side by side")
        withExtendedLifetime((step, other)) {}
        step = nil
        other = nil
        var backup: DataFolderLock? = try data.holdForBackup()
        #expect(try data.holdForCollection() == nil)
        withExtendedLifetime(backup) {}
        backup = nil
        #expect(try data.holdForCollection() != nil)
    }
}
