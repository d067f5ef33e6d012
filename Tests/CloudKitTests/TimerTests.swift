import CloudKit
import System
import Testing

@Suite struct TimerTests {
    @Test func theMachinesTimersRunAndCanBeTakenBack() async {
        let timers = DispatchTimerSource()
        let ran = Lock<[String]>([])
        await withCheckedContinuation { continuation in
            timers.after(milliseconds: 200) { ran.withLock { $0.append("taken back") } }()
            timers.after(milliseconds: 300) {
                ran.withLock { $0.append("ran") }
                continuation.resume()
            }
        }
        #expect(ran.withLock { $0 } == ["ran"])
    }
}
