/** @file The crosshair of a chart, and the choice of a span, by pointer and by keyboard. */

const dragLeast = 4;

/**
 * Lets a chart's plot be pointed at. Arrows move the crosshair; with Shift they choose a span, which Enter takes.
 * @param {Object} self The chart: holder, group, data, timeX.
 */
export function attachPointing(self) {
    const {holder, group} = self;
    let anchor = null;
    holder.addEventListener("pointermove", (event) => {
        const at = timeAt(self, event);
        if (at === null) return;
        group.point(bucketStart(self, at));
        if (anchor && Math.abs(event.clientX - anchor.x) >= dragLeast) {
            group.draw(bucketStart(self, Math.min(anchor.at, at)), bucketStart(self, Math.max(anchor.at, at))
                + self.data.step);
        }
    });
    holder.addEventListener("pointerdown", (event) => {
        const at = timeAt(self, event);
        if (event.button !== 0 || at === null) return;
        anchor = {at, x: event.clientX};
        holder.setPointerCapture(event.pointerId);
    });
    holder.addEventListener("pointerup", () => {
        anchor = null;
        group.take();
    });
    holder.addEventListener("pointercancel", () => {
        anchor = null;
        group.cancel();
    });
    holder.addEventListener("pointerleave", () => {
        if (!anchor && document.activeElement !== holder) group.point(null);
    });
    holder.addEventListener("keydown", (event) => key(self, event));
    holder.addEventListener("blur", () => { self.anchor = null; group.cancel(); });
}

function key(self, event) {
    const {group, data} = self;
    if (!data?.rows.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const {step, rows} = data;
    const last = rows.length - 1;
    const present = group.state.at === null ? last : indexOf(self, group.state.at);
    const targets = {ArrowLeft: present - 1, ArrowRight: present + 1, ArrowDown: present - 1, ArrowUp: present + 1,
        PageDown: present - 10, PageUp: present + 10, Home: 0, End: last};
    if (event.key in targets) {
        const next = Math.min(Math.max(targets[event.key], 0), last);
        if (event.shiftKey) {
            self.anchor ??= rows[present].at;
            group.draw(Math.min(self.anchor, rows[next].at), Math.max(self.anchor, rows[next].at) + step);
        } else {
            self.anchor = null;
            group.cancel();
        }
        group.point(rows[next].at);
    } else if (event.key === "Enter") {
        if (!group.state.draft) group.draw(rows[present].at, rows[present].at + step);
        self.anchor = null;
        group.take();
    } else if (event.key === "Escape" && (group.state.draft || group.state.at !== null)) {
        self.anchor = null;
        group.cancel();
    } else {
        return;
    }
    event.preventDefault();
}

function indexOf({data}, at) {
    return Math.min(Math.max(Math.floor((at - data.from) / data.step), 0), data.rows.length - 1);
}

function bucketStart(self, at) {
    return self.data.rows[indexOf(self, at)].at;
}

function timeAt(self, event) {
    if (!self.data?.rows.length || !self.timeX) return null;
    const {from, to} = self.data;
    const left = self.timeX(from);
    const x = event.clientX - self.holder.getBoundingClientRect().left;
    return Math.min(Math.max(from + (to - from) * (x - left) / (self.timeX(to) - left), from), to - 1);
}
