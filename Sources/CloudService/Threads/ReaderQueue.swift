/// The jobs that wait for a reader, in fair order of their owners.
///
/// A turn covers a fixed time of a job. One owner uses up to a quarter of the readers while others are
/// active, so a single request doesn't wait for another owner's long ones.
struct ReaderQueue {
    /// Processor time that a turn covers, in microseconds.
    static let turnMicroseconds = 1_000

    private let readersCount: Int
    private var jobs = FairQueue<ServiceJob>()
    /// Number of busy readers, by owner.
    private var busyReaders: [String: Int] = [:]
    private var contention = Contention()

    init(readersCount: Int) {
        self.readersCount = readersCount
    }

    mutating func append(_ job: ServiceJob) {
        jobs.append(job, of: job.owner, bytes: job.bytes)
    }

    /// Returns the next job for an idle reader.
    mutating func popFirst() -> ServiceJob? {
        let isContested = contention.isContested || jobs.ownersCount > 1
        let ownMax = isContested ? max(1, readersCount / 4) : readersCount
        guard let job = jobs.popFirst(where: { busyReaders[$0, default: 0] < ownMax }) else { return nil }
        busyReaders[job.owner, default: 0] += 1
        // `popFirst` checks the waiting owners itself.
        contention.notice(job.owner, othersWait: false)
        return job
    }

    /// Ends a job that used `microseconds` of processor time.
    mutating func end(_ job: ServiceJob, microseconds: Int) {
        let count = busyReaders[job.owner, default: 1] - 1
        busyReaders[job.owner] = count > 0 ? count : nil
        let turns = Double(microseconds) / Double(Self.turnMicroseconds)
        jobs.charge(job.owner, bytes: Int(turns * Double(FairQueue<ServiceJob>.turnBytes)))
    }
}
