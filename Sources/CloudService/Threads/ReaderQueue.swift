/// The jobs that wait for a reader, and whose turn it is.
///
/// A turn pays for some time of a job, and one owner has a quarter of the readers at most while others come too: a
/// single question doesn't wait for another owner's long ones.
struct ReaderQueue {
    /// What a turn pays for, in microseconds of a processor.
    static let turnMicroseconds = 1_000

    private let readersCount: Int
    private var jobs = FairQueue<ServiceJob>()
    /// How many readers work for each who has any.
    private var busyReaders: [String: Int] = [:]
    private var contention = Contention()

    init(readersCount: Int) {
        self.readersCount = readersCount
    }

    mutating func append(_ job: ServiceJob) {
        jobs.append(job, of: job.owner, bytes: job.bytes)
    }

    /// The next job for a reader that has nothing to do.
    mutating func popFirst() -> ServiceJob? {
        let isContested = contention.isContested || jobs.ownersCount > 1
        let ownMax = isContested ? max(1, readersCount / 4) : readersCount
        guard let job = jobs.popFirst(where: { busyReaders[$0, default: 0] < ownMax }) else { return nil }
        busyReaders[job.owner, default: 0] += 1
        // `popFirst` looks at the owners that wait by itself.
        contention.notice(job.owner, othersWait: false)
        return job
    }

    /// A reader is done with a job, which took so much of a processor.
    mutating func end(_ job: ServiceJob, microseconds: Int) {
        let count = busyReaders[job.owner, default: 1] - 1
        busyReaders[job.owner] = count > 0 ? count : nil
        let turns = Double(microseconds) / Double(Self.turnMicroseconds)
        jobs.charge(job.owner, bytes: Int(turns * Double(FairQueue<ServiceJob>.turnBytes)))
    }
}
