import Foundation
import HTTPServer

@testable import CloudServer
@testable import CloudService

/// The tables of `docs/LIMITS.md`, made from the bounds that stand beside the code.
struct LimitsPage {
    static let header = "## One request"

    let options: CloudServerOptions

    var text: String {
        ([
            Self.header, "", requests, "", "## One caller, at a time", "", callers, "",
            "## One user, in total", "",
        ]
            + [users]).joined(separator: "\n") + "\n"
    }

    // MARK: Requests

    /// The rows' names with what each may use: all endpoints of a service, then what the server answers itself.
    var rows: [(name: String, bounds: RequestBounds)] {
        Endpoint.allCases.map { ("`\($0.rawValue)`", $0.bounds(options.limits)) }
            + Route.bounded.compactMap { name, route in route.bounds(options).map { (name, $0) } }
    }

    private var requests: String {
        let lines = rows.map { name, bounds in
            let cells = [
                Self.bytes(bounds.memoryBytes), Self.bytes(bounds.answerBytes), Self.count(bounds.rowsRead),
                Self.count(bounds.rowsWritten), Self.bytes(bounds.diskBytes),
                bounds.countedBy.map { "`\($0)`" }.joined(separator: ", "),
            ]
            return "| \(name) | \(cells.joined(separator: " | ")) |"
        }
        return
            ([
                "| endpoint | memory while it runs | response | rows read | rows written | bytes written "
                    + "| counted by |",
                "|---|---|---|---|---|---|---|",
            ] + lines).joined(separator: "\n")
    }

    // MARK: Callers

    private var callers: String {
        let (http, group) = (options.http, options.groupLimits)
        let rates = options.rates
        let body = options.limits.bodyBytesMax
        let weight = RequestWeight.bytes(of: [UInt8](repeating: 0x2C, count: body))
        func half(_ max: Int) -> Int { (max + 1) / 2 }
        // An eighth of what is left, one's own not among it.
        func share(_ max: Int) -> Int { (max - 1) / (AssetHandler.sharesCount + 1) + 1 }
        let bytesOfARequest = Self.bytes(ServiceRates.answerBytesOfARequest)
        func rate(_ rate: ServiceRates.Rate?) -> String {
            rate.map { "\(Self.count($0.perSecond)) per second, \(Self.count($0.burst)) in a burst" }
                ?? "no limit"
        }
        let rows: [(what: String, one: String, all: String, names: [String])] = [
            (
                "connections (a descriptor each)",
                Self.count(http.connectionsOfAddressMax) + " of an address",
                Self.count(http.connectionsMax),
                ["connectionsOfAddressMax", "connectionsMax", "DescriptorLimit"]
            ),
            (
                "bodies being received", Self.bytes(share(http.bodyBytesOfAllMax)) + " of an address",
                Self.bytes(http.bodyBytesOfAllMax),
                ["NetworkByteCounts", "bodyBytesOfAllMax", "bodyBytesPerSecondMin", "bodySecondsMax"]
            ),
            (
                "queued responses", Self.bytes(half(http.outputBytesOfAllMax)) + " of an address",
                Self.bytes(http.outputBytesOfAllMax), ["NetworkByteCounts", "outputBytesOfAllMax"]
            ),
            (
                "requests per second of an environment; each \(bytesOfARequest) of a user's response count as one",
                rate(rates.user), rate(rates.container),
                ["ServiceRates", "RateKeeper"]
            ),
            (
                "the same for unauthenticated callers", rate(rates.address) + " of an address",
                rate(rates.container),
                ["ServiceRates", "RateKeeper"]
            ),
            (
                "requests for sign-in, and for unknown paths and containers",
                rate(rates.address) + " of an address",
                "no limit", ["ServiceRates", "AddressRate"]
            ),
            (
                "pending requests of an environment", Self.count(half(group.waitingRequestsMax)),
                Self.count(group.waitingRequestsMax), ["waitingRequestsMax", "FairQueue"]
            ),
            (
                "their bodies, also decoded (up to \(Self.bytes(weight)) for one)",
                Self.bytes(half(group.waitingBytesMax) + weight), Self.bytes(group.waitingBytesMax + weight),
                ["waitingBytesMax", "RequestWeight"]
            ),
            (
                "bodies of requests waiting for an environment to open", "-",
                Self.bytes(EnvironmentTable.waitingBytesMax), ["waitingBytes", "EnvironmentTable"]
            ),
            (
                "readers", "a quarter while other callers are active", "two per processor, at least four",
                ["ReaderQueue"]
            ),
            (
                "the writer", "\(group.userMilliseconds) ms of a group while others write",
                "\(group.milliseconds) ms and \(Self.count(group.requestsMax)) requests a group",
                ["WriteQueue", "WriterCooldowns", "userMilliseconds", "requestsMax"]
            ),
            (
                "long polls of devices", Self.count(options.limits.devicesMax) + " of a user",
                Self.count(options.courierPollsMax), ["courierPollsMax", "devicesMax", "CourierPolls"]
            ),
            (
                "uploads", Self.count(share(options.assets.uploadsMax)) + " of an address",
                Self.count(options.assets.uploadsMax), ["uploadsMax", "FairCount"]
            ),
            (
                "downloads", Self.count(share(options.assets.downloadsMax)) + " of an address",
                Self.count(options.assets.downloadsMax), ["downloadsMax", "FairCount"]
            ),
            (
                "queued sign-ins", Self.count(half(options.signInsWaitingMax)) + " of an address",
                Self.count(options.signInsWaitingMax), ["signInsWaitingMax", "FairWorker"]
            ),
            (
                "requests for health and metrics that share one response", Self.count(ServerStatus.askersMax),
                Self.count(ServerStatus.askersMax) + " of each", ["askersMax", "ServerStatus"]
            ),
            (
                "open environments (\(DescriptorLimit.perEnvironment) descriptors each)", "-",
                Self.count(options.environmentsOpenMax), ["environmentsOpenMax", "EnvironmentTable"]
            ),
        ]
        return Self.table(
            ["what", "one caller", "all together", "counted by"],
            rows.map { row in
                [row.what, row.one, row.all, row.names.map { "`\($0)`" }.joined(separator: ", ")]
            })
    }

    // MARK: Users

    private var users: String {
        let (limits, assets) = (options.limits, options.limits.assets)
        let rows: [(what: String, value: String, name: String)] = [
            (
                "bytes of the private database, records and files", Self.bytes(Int(assets.privateBytesMax)),
                "privateBytesMax"
            ),
            (
                "the same including rows of deleted zones still on disk, in each environment",
                Self.bytes(2 * Int(assets.privateBytesMax)), "bytesCleared"
            ),
            (
                "bytes created in the public database", Self.bytes(Int(assets.publicBytesOfUserMax)),
                "publicBytesOfUserMax"
            ),
            ("records and tombstones", Self.count(Int(assets.privateRecordsMax)), "privateRecordsMax"),
            ("zones, deleted ones among them", Self.count(assets.privateZonesMax), "privateZonesMax"),
            ("index entries of a record", Self.count(limits.indexEntriesMax), "indexEntriesMax"),
            (
                "ancestors of a record (its parent, the parent's parent, and so on)",
                Self.count(limits.ancestorsMax), "ancestorsMax"
            ),
            ("subscriptions in a database", Self.count(limits.subscriptionsMax), "subscriptionsMax"),
            ("devices that receive notifications", Self.count(limits.devicesMax), "devicesMax"),
            ("notifications", Self.count(limits.notificationsMax), "notificationsMax"),
            ("kept responses to writes", Self.count(limits.answersMax), "answersMax"),
            ("bytes of these responses", Self.bytes(Int(limits.answersBytesMax)), "answersBytesMax"),
            (
                "uploaded bytes not yet saved in a record", Self.bytes(Int(assets.unsavedBytesMax)),
                "unsavedBytesMax"
            ),
            (
                "uploaded files not yet saved in a record", Self.count(assets.unsavedFilesMax),
                "unsavedFilesMax"
            ),
        ]
        return Self.table(
            ["what", "maximum", "counted by"], rows.map { [$0.what, $0.value, "`\($0.name)`"] })
    }

    /// The names that the tables give: of limits, and of what counts.
    var names: Set<String> {
        Set(text.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) })
            .subtracting(Endpoint.allCases.map(\.rawValue))
    }

    // MARK: Form

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        ([header, header.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" }
            .joined(separator: "\n")
    }

    static func bytes(_ value: Int) -> String {
        guard value > 0 else { return "-" }
        for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] where value >= unit {
            // Upwards: a bound is not to be shown smaller than it is.
            let tenths = (value * 10 + unit - 1) / unit
            return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
        }
        return "\(value)"
    }

    static func count(_ value: Int) -> String {
        guard value > 0 else { return "-" }
        var (text, rest) = ("", value)
        while rest >= 1_000 {
            text = "," + String(String(1_000 + rest % 1_000).dropFirst()) + text
            rest /= 1_000
        }
        return "\(rest)\(text)"
    }
}
