import Abuse

/// What the command line says.
struct AbuserOptions {
    var plan = AbusePlan()

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw AbuseError("\(option) needs a value") }
            return value
        }
        func number<Value: LosslessStringConvertible>(_ option: String) throws -> Value {
            let text = try value(option)
            guard let number = Value(text) else { throw AbuseError("\(option) needs a number, not \(text)") }
            return number
        }
        // First, so that the others change it in whatever order they stand.
        if arguments.contains("--short") { plan.shorten() }
        while let option = rest.popFirst() {
            switch option {
            case "--short": continue
            case "--seed": plan.seed = try number(option)
            case "--seconds": plan.secondsEach = try number(option)
            case "--mixtures": plan.mixturesCount = try number(option)
            case "--yap": plan.yap = try value(option)
            case "--only":
                let names = try value(option).split(separator: ",").map(String.init)
                plan.attacks = try names.map { name in
                    guard let attack = Attacks.all.first(where: { $0.name == name }) else {
                        let known = Attacks.all.map(\.name).joined(separator: ", ")
                        throw AbuseError("\(name) is none of \(known)")
                    }
                    return attack
                }
            default: throw AbuseError("unknown option \(option)")
            }
        }
    }
}
