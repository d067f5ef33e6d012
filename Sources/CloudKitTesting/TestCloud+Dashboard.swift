import CloudKit
internal import CloudService
internal import CloudStore
import Foundation
import System

extension TestCloud {
    /// Serves the dashboard for this cloud on the loopback interface, on a free port, until the cloud is released.
    ///
    /// It shows records, zones, the schema and subscriptions. The devices fetch what is changed there.
    ///
    /// ```swift
    /// print(try cloud.serveDashboard())
    /// try await Task.sleep(for: .seconds(600))
    /// ```
    ///
    /// Let the test sleep to look into it: a breakpoint stops the dashboard's threads too, if the debugger stops all
    /// threads. Without a line of code, `YAP_DASHBOARD=1` in the environment serves the dashboard of the first cloud of
    /// the process, and prints the URL to the standard error.
    ///
    /// Times of records come from `clock`; sessions of the dashboard use the real clock.
    ///
    /// - Returns: a URL that signs in once, within 10 minutes. Further calls return other URLs of the same dashboard,
    ///   unless a password was chosen there.
    /// - Throws: the errors of creating a temporary folder and of listening on a port.
    public func serveDashboard() throws -> URL {
        if let dashboard = state.withLock({ $0.dashboard }) { return try dashboard.link() }
        let made = try makeDashboard()
        // Another thread may have been faster. Its dashboard is used, and ours is released after the lock.
        let (dashboard, _) = state.withLock { state in
            let dashboard = state.dashboard ?? made
            state.dashboard = dashboard
            return (dashboard, made)
        }
        // Devices may have added users since the list was read.
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

    /// Serves the dashboard of the first cloud of the process if `YAP_DASHBOARD` is set.
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
