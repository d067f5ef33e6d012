/// Commands for operators.
enum OperatorCommands {
    static let commands = [
        AccountCommands.delete, RecordChangeCommands.save, RecordChangeCommands.delete,
        ZoneCommands.create, ZoneCommands.delete, ExportCommands.export, ExportCommands.importing,
        ContainerCommands.list, ContainerCommands.delete, StatsCommand.command, DoctorCommand.command,
    ]
}
