import Simulation

/// What the command line says.
struct SimulatorOptions {
    static let help = """
        Simulator [--seeds N] [--from N] [--minutes M]   runs so many seeds, or as many as the time allows
        Simulator --seed N                               runs one
        Simulator --replay FILE [FILE ...]               runs kept plans
        Simulator --list-mutants                         lists the seeded bugs at the seams

          --trace                print all that happened, a line an event
          --shrink SECONDS       shrink a failing run for so long at most (60; 0 leaves it as it is)
          --keep FOLDER          write the plan of a failing run into the folder
          --log FILE             append a line about the runs: commit, seeds, device-hours, faults, failures
          --hash                 print nothing but the hash of all traces
          --until-failure        stop at the first run that goes wrong, and print it in one line
          --mutant NAME          run with this seeded bug
          --threads N            run on so many threads (all cores)
          --size DEVICES,STEPS   draw runs of this size, for measuring
        """

    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    var seedsCount = 1_000
    var firstSeed: UInt64 = 1
    var minutes: Double?
    var threads = Runs.threadsMax
    var seed: UInt64?
    var traces = false
    var hashes = false
    var size: (devices: Int, steps: Int)?
    /// Kept plans to run.
    var replays: [String] = []
    var shrinkSeconds = 60.0
    var keepFolder: String?
    var logFile: String?
    var stopsAtFailure = false
    var mutant: Mutant?
    var listsMutants = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw Misuse(description: "\(option) needs a value") }
            return value
        }
        func number<Value: LosslessStringConvertible>(_ option: String) throws -> Value {
            let text = try value(option)
            guard let number = Value(text) else {
                throw Misuse(description: "\(option) needs a number, and \(text) is none")
            }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--seeds": seedsCount = try number(option)
            case "--from": firstSeed = try number(option)
            case "--minutes": minutes = try number(option)
            case "--threads": threads = try number(option)
            case "--seed": seed = try number(option)
            case "--trace": traces = true
            case "--hash": hashes = true
            case "--shrink": shrinkSeconds = try number(option)
            case "--keep": keepFolder = try value(option)
            case "--log": logFile = try value(option)
            case "--until-failure": stopsAtFailure = true
            case "--list-mutants": listsMutants = true
            case "--mutant":
                let name = try value(option)
                guard let known = Mutant(rawValue: name) else {
                    throw Misuse(description: "\(name) is no seeded bug")
                }
                mutant = known
            case "--replay":
                replays.append(try value(option))
                while rest.first?.hasPrefix("--") == false { replays.append(rest.removeFirst()) }
            case "--size":
                let parts = try value(option).split(separator: ",").compactMap { Int($0) }
                guard parts.count == 2 else { throw Misuse(description: "--size needs DEVICES,STEPS") }
                size = (parts[0], parts[1])
            default: throw Misuse(description: "unknown option \(option)")
            }
        }
    }
}
