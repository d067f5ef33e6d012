/** @file Comma-separated values as RFC 4180 has them, safe to open in a spreadsheet. */

/**
 * Returns one line, with its end.
 * @param {string[]} cells
 */
export function csvLine(cells) {
    return `${cells.map(quoted).join(",")}\r\n`;
}

/**
 * Returns a text as a cell that no spreadsheet runs as a formula: a text that begins like one gets an apostrophe.
 * @param {string} text
 */
export function safeText(text) {
    return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Returns the text of a cell that `safeText` has made. */
export function plainText(cell) {
    return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

function quoted(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Reads a text of comma-separated values.
 * @param {string} text
 * @returns {{line: number, cells: string[]}[]} `line` is where the row begins, from 1
 * @throws {SyntaxError} for a quotation mark that isn't closed
 */
export function readCSV(text) {
    const rows = [];
    const source = text.replace(/^\uFEFF/, "");
    let [index, line] = [0, 1];
    while (index < source.length) {
        const row = {line, cells: []};
        for (let isRow = true; isRow;) {
            const cell = readCell(source, index, line);
            row.cells.push(cell.text);
            line += cell.linesCount;
            isRow = source[cell.end] === ",";
            index = cell.end + 1;
            if (!isRow && source[cell.end] === "\r" && source[index] === "\n") index += 1;
        }
        line += 1;
        if (row.cells.length > 1 || row.cells[0] !== "") rows.push(row);
    }
    return rows;
}

function readCell(source, start, line) {
    if (source[start] !== '"') {
        let end = start;
        while (end < source.length && !",\r\n".includes(source[end])) end += 1;
        return {text: source.slice(start, end), end, linesCount: 0};
    }
    let text = "";
    for (let index = start + 1; index < source.length; index += 1) {
        if (source[index] !== '"') text += source[index];
        else if (source[index + 1] === '"') {
            text += '"';
            index += 1;
        } else {
            return {text, end: index + 1, linesCount: text.split("\n").length - 1};
        }
    }
    throw new SyntaxError(`Line ${line}: a quotation mark isn’t closed.`);
}
