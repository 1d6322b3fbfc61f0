#!/usr/bin/env python3
"""Verifies evidence of the wallet operator, independently of its code. Needs only Python's standard library.

    python3 verify_evidence.py EVIDENCE --key KEYS [--checkpoints FILE]...

The files are saved answers of GET /v1/players/{id}/rounds/{id}/evidence, /v1/audit/keys and /v1/audit/checkpoints.
"""
import argparse, base64, hashlib, json, pathlib, sys

# Ed25519 (RFC 8032, section 5.1): points are (x, y), addition by the formula of the curve.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def x_of(y, odd):
    squared = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(squared, (P + 3) // 8, P)
    if (x * x - squared) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - squared) % P or (x == 0 and odd):
        raise ValueError("not a point of the curve")
    return P - x if x % 2 != odd else x


def point(data):
    odd, y = divmod(int.from_bytes(data, "little"), 2**255)
    if len(data) != 32 or y >= P:
        raise ValueError("not a point of the curve")
    return x_of(y, odd), y


def add(a, b):
    k = D * a[0] * b[0] * a[1] * b[1]
    x, y = a[0] * b[1] + b[0] * a[1], a[1] * b[1] + a[0] * b[0]
    return x * pow(1 + k, -1, P) % P, y * pow(1 - k, -1, P) % P


def times(n, a):
    total = (0, 1)
    for bit in bin(n)[2:]:
        total = add(add(total, total), a) if bit == "1" else add(total, total)
    return total


BASE = (x_of(4 * pow(5, -1, P) % P, 0), 4 * pow(5, -1, P) % P)


def is_signed(message, signature, key):
    s = int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little")
    return len(signature) == 64 and s < ORDER and times(s, BASE) == add(point(signature[:32]), times(h % ORDER, point(key)))


def sha(data):
    return hashlib.sha256(data).digest()


def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    demand(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "not base64url: %a" % text)
    return data


def demand(holds, otherwise):
    if not holds:
        raise ValueError(otherwise)


def text_of(c):
    fields = [c[name] for name in ("number", "entries", "total", "previous", "root", "sealedAt", "keyId")]
    return "\n".join(["wallet-operator checkpoint 1"] + [str(field) for field in fields]).encode()


def leaf_of(entry):
    demand(entry["roundClosed"] is None or type(entry["roundClosed"]) is bool, "roundClosed is no boolean")
    names = "playerId seq operation transactionId roundId gameCode amount balanceAfter reverses roundClosed at idSpace"
    lines = [{None: "", True: "true", False: "false"}.get(entry[name], entry[name]) for name in names.split()]
    return sha(b"\0" + "\n".join(lines).encode())


def root_of(node, leaf, size, path):
    """RFC 9162, section 2.1.3.2: hashes from the leaf up; the last node of an odd level moves up unchanged."""
    path = [bytes.fromhex(sibling) for sibling in path]
    while size > 1:
        if leaf % 2 == 1 or leaf < size - 1:
            sibling = path.pop(0)
            node = sha(b"\1" + (sibling + node if leaf % 2 else node + sibling))
        leaf, size = leaf // 2, (size + 1) // 2
    demand(leaf == 0 and not path, "a path does not fit its tree")
    return node.hex()


def check_checkpoints(checkpoints, keys):
    known = {}
    for c in checkpoints:
        name = "checkpoint %d" % c["number"]
        demand(is_signed(text_of(c), decode(c["signature"]), keys[c["keyId"]]), name + ": signature is wrong")
        demand(text_of(known.setdefault(c["number"], c)) == text_of(c), name + " was rewritten: there are two")
    for number, c in known.items():
        before = known.get(number - 1)
        if number == 1:
            demand(c["previous"] == "0" * 64 and c["total"] == c["entries"], "checkpoint 1 is not the first")
        elif before:
            follows = (c["previous"], c["total"]) == (sha(text_of(before)).hex(), before["total"] + c["entries"])
            demand(follows, "checkpoint %d does not follow" % number)


def check_evidence(text, keys):
    file = json.loads(text)
    spelled = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
    demand(spelled == text, "the file was written again")
    signed = json.dumps(file["evidence"], ensure_ascii=False, separators=(",", ":")).encode()
    demand(is_signed(signed, decode(file["signature"]), keys[file["keyId"]]), "the signature of the file is wrong")
    evidence = file["evidence"]
    demand(evidence["version"] == 1 and evidence["entries"], "not evidence of version 1 with entries")
    ranges, before = {c["number"]: c for c in evidence["checkpoints"]}, 0
    for e in evidence["entries"]:
        demand((e["playerId"], e["roundId"]) == (evidence["playerId"], evidence["roundId"]), "another round")
        demand(int(e["seq"]) > before, "entries are out of order")
        before, sealed = int(e["seq"]), ranges[e["checkpoint"]]
        root = root_of(leaf_of(e), e["leaf"], sealed["entries"], e["path"])
        demand(0 <= e["leaf"] < sealed["entries"] and root == sealed["root"], "entry differs")
    return evidence


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("evidence")
    parser.add_argument("--key", required=True)
    parser.add_argument("--checkpoints", action="append", default=[])
    given = parser.parse_args()
    keys = {}
    read = lambda name: pathlib.Path(name).read_bytes().decode()
    for jwk in json.loads(read(given.key))["keys"]:
        members = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": jwk["x"]}, separators=(",", ":"))
        keys[base64.urlsafe_b64encode(sha(members.encode())).rstrip(b"=").decode()] = decode(jwk["x"])
    evidence = check_evidence(read(given.evidence).rstrip("\n"), keys)
    kept = sum((json.loads(read(name))["checkpoints"] for name in given.checkpoints), [])
    check_checkpoints(evidence["checkpoints"] + kept, keys)
    is_kept = all(text_of(c) in map(text_of, kept) for c in evidence["checkpoints"])
    demand(is_kept or not given.checkpoints, "a checkpoint is not among the kept ones")
    print("proven: round %a (entries: %d)" % (evidence["roundId"], len(evidence["entries"])))


try:
    main()
except Exception as error:
    sys.exit("not proven: %s" % error)
