/// What `--help` prints.
enum Help {
    struct Entry {
        let name: String
        let operands: String
        let summary: String
        let details: String
        let example: String
    }

    static let commands = [
        Entry(
            name: "add", operands: "TEXT...", summary: "add an item, as a line of a todo.txt file",
            details: """
                (A) at the beginning is its priority, +word a project, @word a context, key:value a tag. It is
                written to this device's file only, so it is fast and needs no network. `todo sync` or `todo watch`
                sends it.
                With --json: {"key", "short", "line"}.
                """, example: "todo --device phone add \"(A) Buy milk +kitchen due:2026-12-01\""),
        Entry(
            name: "list", operands: "[WORD...]",
            summary: "print the open items, or those with all these words",
            details: """
                --all prints the done ones too. The first column is the short key of an item for other commands.
                * marks items that are pinned on this device.
                With --json: [{"key", "short", "line", "title", "isDone", "priority", "creationDay", "completionDay",
                "order", "color", "isPinned"}]
                """, example: "todo --device phone list +kitchen"),
        Entry(
            name: "done", operands: "KEY...", summary: "mark items as done today",
            details: "With --json: as add, a list.",
            example: "todo --device phone done 3f2"),
        Entry(
            name: "edit", operands: "KEY TEXT...", summary: "replace an item by a new line",
            details: "A day or a priority that isn't in the new line is removed. With --json: as add.",
            example: "todo --device phone edit 3f2 \"(B) Buy oat milk +kitchen\""),
        Entry(
            name: "color", operands: "KEY COLOR", summary: "give an item a colour",
            details: """
                red, orange, yellow, green, blue, purple, #rrggbb, or none. In a line it is the tag color:#rrggbb at
                the end. With --json: as add, a list.
                """, example: "todo --device phone color 3f2 red"),
        Entry(
            name: "pin", operands: "KEY...", summary: "show items first, on this device only",
            details: "With --json: as add, a list.", example: "todo --device phone pin 3f2"),
        Entry(
            name: "unpin", operands: "KEY...", summary: "show items in their place again",
            details: "With --json: as add, a list.", example: "todo --device phone unpin 3f2"),
        Entry(
            name: "delete", operands: "KEY...", summary: "delete items",
            details: "With --json: as add, a list.",
            example: "todo --device phone delete 3f2"),
        Entry(
            name: "import", operands: "FILE", summary: "add every line of a todo.txt file, in one commit",
            details: "With --json: {\"items\", \"done\"}.",
            example: "todo --device phone import Examples/Todo/todo.txt"),
        Entry(
            name: "sync", operands: "", summary: "send and fetch until nothing is left to do, then end",
            details: """
                After a temporary failure (the network, a busy server) it retries until --patience SECONDS (20) have
                passed without progress. Then the remaining changes stay in the queue, and the exit code is 1. While
                another process syncs this device, it waits until that one has sent everything.
                If this device and another one changed the same field, it prints the dropped and the kept value, and
                the device of each. With --json: a line for each such decision, {"event": "merge", "key", "rule",
                "field", "dropped", "kept"}, then {"event": "synced", "status", "items"}.
                """, example: "todo --device phone sync"),
        Entry(
            name: "watch", operands: "", summary: "sync all the time, and show what changes, until Ctrl-C",
            details: """
                Shows changes by other commands to this device's list, changes by other devices, which arrive by push,
                and each decision of a merge, as `todo sync` does. With --json: a line for each event: {"event":
                "watching" | "added" | "changed" | "deleted" | "merge" | "status" | "error" | "ended", ...}.
                """, example: "todo --device laptop watch"),
        Entry(
            name: "status", operands: "",
            summary: "print the pending changes, the last error, and the time of the last success",
            details: """
                With --json: {"device", "items", "pending", "changeSets", "inFlight", "status", "syncing", "lastError",
                "lastErrorAt", "lastWorkedAt", "token"}; times in milliseconds since 1970.
                """, example: "todo --device phone status"),
        Entry(
            name: "login", operands: "", summary: "sign in to a server, for this device",
            details: """
                --account NAME, and --server URL, --container ID and --api-token TOKEN, or CLOUDKIT_SERVER,
                CLOUDKIT_CONTAINER and CLOUDKIT_API_TOKEN. It prompts for the password, or reads it with
                --password-stdin. The values are stored in the device's folder: in cloudkit.json, and in
                credentials.json, which only you can read.
                """,
            example:
                "todo --device phone login --server http://127.0.0.1:8080 --container iCloud.com.example.todo "
                + "--account ann --api-token TOKEN"),
    ]

    static func text(_ command: String) -> String {
        if let entry = commands.first(where: { $0.name == command }) { return text(entry) }
        let width = commands.map(\.name.count).max() ?? 0
        let lines = commands.map { entry in
            "  " + entry.name + String(repeating: " ", count: width + 2 - entry.name.count) + entry.summary
        }
        return """
            todo: a list that is the same on all your devices

            Usage: todo --device NAME [--folder DIR] COMMAND [options]

            \(lines.joined(separator: "\n"))

            A device is a folder: ./todo-NAME, or --folder. `todo COMMAND --help` shows more, and an example.
            Begin with:
              todo --device phone add "(A) Buy milk +kitchen"
              todo --device phone list
              todo --device phone login --server URL --container ID --api-token TOKEN --account NAME
              todo --device phone watch
            Exit codes: 0 done, 1 failed, 2 wrong usage.

            """
    }

    private static func text(_ entry: Entry) -> String {
        """
        todo \(entry.name): \(entry.summary)

        Usage: todo --device NAME [--folder DIR] \(entry.name) \(entry.operands) [--json]

        \(entry.details)

        Example:
          \(entry.example)

        """
    }
}
