import CloudService
import CloudWire
import Crypto
import System

/// A run of requests that follow from a seed, and what was wrong with their answers.
public struct FuzzRun {
    /// After how many requests the service keeps up, and Ada's data is looked at.
    private static let upkeepRequests = 20
    private static let lookRequests = 2_000
    /// One of so many requests is right in every part, so that there is always something to ask about.
    private static let rightRequests = 6

    /// What was wrong.
    public private(set) var findings: [String] = []
    /// How many answers had which status.
    public private(set) var statuses: [Int: Int] = [:]
    /// The hash of all requests, one after the other.
    public private(set) var hash: [UInt8] = []
    /// The endpoints that gave an answer of 200, of those that serve anything.
    public private(set) var answered: Set<String> = []

    private let draw: Draw
    private let world: FuzzWorld
    private let check: AnswerCheck
    private var own: SealedValues

    /// Makes a run.
    ///
    /// - Parameters:
    ///   - seed: what all requests follow from.
    ///   - world: a world of the same seed that nobody has asked yet.
    public init(seed: UInt64, world: FuzzWorld, check: AnswerCheck) {
        draw = Draw(seed: seed)
        own = world.othersSealed
        self.world = world
        self.check = check
    }

    /// Asks so many requests.
    ///
    /// - Parameters:
    ///   - allowsRates: whether 429 and 503 by the rates are right.
    ///   - watch: hears of each request before it is asked.
    ///   - ask: who answers; the world's service when nobody else does.
    /// - Throws: when the world can't be looked at.
    package mutating func run(
        requests count: Int, findingsMax: Int = 10, allowsRates: Bool = false,
        watch: (FuzzRequest) -> Void = { _ in }, ask: ((FuzzRequest) throws -> WireResponse)? = nil
    ) throws {
        var hashing = try SHA256()
        for number in 0..<count where findings.count < findingsMax {
            let maker = RequestMaker(
                draw: draw, own: own, foreign: world.sealed, container: FuzzWorld.container.identifier)
            let request = maker.request(number, isHostile: !draw.once(in: Self.rightRequests))
            try hashing.update(Array("\(request.wire.method) \(request.wire.rawTarget ?? "")\n".utf8))
            try hashing.update(request.wire.body)
            watch(request)
            let response = try ask?(request) ?? world.respond(to: request)
            take(response, to: request, allowsRates)
            world.clock.advance(bySeconds: 0.1)
            if number % Self.upkeepRequests == 0 { _ = try world.service.keepUp() }
            if number % Self.lookRequests == Self.lookRequests - 1 { try look(number) }
        }
        hash = try hashing.finish()
        while try world.service.keepUp() {}
        try look(count)
    }

    /// A request of an endpoint in which nothing is wrong.
    package static func rightRequest(
        of endpoint: Endpoint, _ scope: DatabaseScope, seed: UInt64, in world: FuzzWorld
    ) -> FuzzRequest {
        RequestMaker(
            draw: Draw(seed: seed), own: world.othersSealed, foreign: world.sealed,
            container: FuzzWorld.container.identifier
        ).request(0, endpoint, scope, asker: "mallory", isHostile: false)
    }

    private mutating func take(_ response: WireResponse, to request: FuzzRequest, _ allowsRates: Bool) {
        statuses[response.status, default: 0] += 1
        if response.status == 200 { answered.insert(request.name) }
        let (wrong, answer) = check.findings(response, to: request, allowsRates: allowsRates)
        findings += wrong.map { finding in
            "\(finding)\n  \(request.description)\n  answer \(response.status): "
                + String(decoding: response.body.prefix(500), as: UTF8.self)
        }
        if let answer { own.take(answer) }
    }

    private mutating func look(_ number: Int) throws {
        findings += try world.findings().map { "after \(number) requests: \($0)" }
    }
}
