import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap
import YapCloudKit

/// `docs/guide/FILES.md`: its blocks stand in this folder, and do what the page says.
@Suite struct FilesTests {
    /// A device with reports.
    private struct Phone {
        let database: YapDatabase
        let sync: CloudSync

        init(_ device: TestDevice, _ url: URL) async throws {
            database = try YapDatabase(url: url) { $0.register(Report.self, inCollection: "reports") }
            sync = try await CloudSync(
                database, container: device.container,
                models: [.model(Report.self, collection: "reports")], zone: "reports")
        }

        func report() async throws -> Report? {
            try await database.newConnection().read {
                try $0.object(Report.self, forKey: "bridge", inCollection: "reports")
            }
        }
    }

    @Test func filesReachTheOtherDevice() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let phone = try await Phone(
            cloud.device(user: "ada"), folder.url.appending(component: "phone.yap"))
        let laptop = try await Phone(
            cloud.device(user: "ada"), folder.url.appending(component: "laptop.yap"))
        let (photoData, scanURL) = (Data("photo".utf8), folder.url.appending(component: "scan"))
        try Data("scan".utf8).write(to: scanURL)
        try await add(photoData, scanURL, phone.sync, phone.database.newConnection())
        try FileManager.default.removeItem(at: scanURL)
        try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
        let report = try #require(try await laptop.report())
        #expect(report.title == "Bridge")
        #expect(try await phone.report() == report)
        #expect(try await read(report, laptop.sync) == ["photo", "recording"])
        let page = try #require(report.pages.first)
        #expect(laptop.sync.files.url(of: page) != nil)
    }

    private func add(
        _ photoData: Data, _ scanURL: URL, _ sync: CloudSync, _ connection: YapDatabaseConnection
    ) async throws {
        var report = Report(title: "Bridge")
        report.photo = try await sync.files.add(photoData)
        report.pages = [try await sync.files.add(copyOf: scanURL)]
        try await connection.readWrite { [report] in
            try $0.setObject(report, forKey: "bridge", inCollection: "reports")
        }
        report.recording = try await sync.files.add(Data("recording".utf8))
        try await connection.readWrite { [report] in
            try $0.setObject(report, forKey: "bridge", inCollection: "reports")
        }
    }

    private func read(_ report: Report, _ sync: CloudSync) async throws -> [String] {
        var texts: [String] = []
        func show(_ data: Data) { texts.append(String(decoding: data, as: UTF8.self)) }
        func play(_ url: URL) { texts.append((try? String(contentsOf: url, encoding: .utf8)) ?? "") }
        if let photo = report.photo, let url = sync.files.url(of: photo) {
            show(try Data(contentsOf: url))
        }
        if let recording = report.recording {
            let url = try await sync.files.fetch(
                recording, ofObjectForKey: "bridge", inCollection: "reports")
            play(url)
        }
        return texts
    }
}
