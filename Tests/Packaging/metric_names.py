"""Compares the metrics that the alerts and the dashboard of Grafana use with those of a running server.

    metric_names.py METRICS FILE...

METRICS is what GET /metrics responded. Exit status 1 if a file names a metric or a label that the server doesn't have.
"""
import re
import sys

# What Prometheus adds, and what it makes of a scrape.
LABELS_OF_PROMETHEUS = {"job", "instance", "le"}


def server_names(text):
    """Returns the names of the server's metrics, and the labels of each."""
    names, labels = set(), {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names.update(name + suffix for suffix in suffixes)
    for name, pairs in re.findall(r"^(\w+)\{(.*)\} \S+$", text, re.M):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', pairs))
    return names, labels


def main(metrics, paths):
    names, labels = server_names(open(metrics).read())
    errors = [] if names else ["the server has no metrics"]
    used = set()
    for path in paths:
        text = open(path).read().replace('\\"', '"')
        for name, selector in re.findall(r"\b((?:yap|process)_[a-z_]+)\b(?:\{([^{}]*)\})?", text):
            used.add(name)
            if name not in names:
                errors.append(f"{path}: no metric {name}")
            # A metric without samples so far says nothing about its labels.
            for label in re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", selector):
                if name in labels and label not in labels[name] | LABELS_OF_PROMETHEUS:
                    errors.append(f"{path}: {name} has no label {label}")
    if len(used) < 10:
        errors.append(f"only {len(used)} metrics found in {paths}")
    for error in errors:
        print(error)
    print(f"{len(used)} metrics are used, of {len(names)} that the server has")
    return 1 if errors else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
