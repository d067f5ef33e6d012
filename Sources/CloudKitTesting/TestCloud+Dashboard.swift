import CloudKit
internal import CloudService
internal import CloudStore
import Foundation
import System

extension TestCloud {
    /// Serves the dashboard for this cloud on loopback, on a free port, until the cloud is released.
    ///
    /// It shows records, zones, the schema and subscriptions, as the test's devices have left them. What is changed
    /// there is the devices' to fetch.
    ///
    ///     print(try cloud.serveDashboard())
    ///     try await Task.sleep(for: .seconds(600))
    ///
    /// A test that waits so can be looked into. A breakpoint stops the dashboard's threads too, where the debugger
    /// stops all threads. Without a line of code, `YAP_DASHBOARD=1` in the environment does the same for the first
    /// cloud of the process, and prints the address to the standard error.
    ///
    /// Times of records are those of `clock`, sessions of the dashboard those of the real clock.
    ///
    /// - Returns: an address that signs in once, within 10 minutes. A further call gives another one, to the same
    ///   dashboard, as long as no password was chosen there.
    /// - Throws: what making a temporary folder and listening throw.
    public func serveDashboard() throws -> URL {
        if let dashboard = state.withLock({ $0.dashboard }) { return try dashboard.link() }
        let made = try makeDashboard()
        // Another thread may have been faster; its dashboard counts, and ours ends after the lock.
        let (dashboard, _) = state.withLock { state in
            let dashboard = state.dashboard ?? made
            state.dashboard = dashboard
            return (dashboard, made)
        }
        // Devices may have added users since the list above was read.
        for user in state.withLock({ $0.users }) { try dashboard.add(user) }
        return try dashboard.link()
    }

    private func makeDashboard() throws -> TestDashboard {
        let container = CloudService.Container(identifier: Self.containerIdentifier, environment: environment)
        let store = CurrentStore { [weak self] in
            guard let self else {
                throw CloudStoreError.cannotOpen(path: "", reason: "the test's cloud was released")
            }
            return self.store
        }
        let service = CloudService(
            store: store, clock: clock, random: SystemRandomSource(), container: container,
            assetFiles: assetFiles, schemaMayGrow: environment != "production")
        let (users, quotas) = (state.withLock { $0.users }, self.service.quotas.ordered)
        service.quotas.order(quotas)
        return try TestDashboard(service, of: container, users: users) { [weak self] in
            self?.pushesReady($0)
        }
    }

    /// What `YAP_DASHBOARD` asks for, of the first cloud of the process.
    func serveDashboardIfAsked() {
        guard let value = getenv("YAP_DASHBOARD"), strcmp(value, "1") == 0,
            Self.isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            })
        else { return }
        do {
            Self.say("dashboard of the first TestCloud, once within 10 minutes: \(try serveDashboard())")
        } catch {
            Self.say("the dashboard of the TestCloud can't be served: \(error)")
        }
    }

    private static let isFirst = Lock(true)

    private static func say(_ words: String) {
        FileHandle.standardError.write(Data("\(words)\n".utf8))
    }
}
