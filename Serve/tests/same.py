"""Checks that the page in the repository is the one that its sources make, and that its policy has the hashes of what it contains."""

import base64
import hashlib
import os
import re
import sys


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return file.read()


committed, built = sys.argv[1], sys.argv[2]
for names in (("index.html", "policy.txt"), ("top.html", "top-policy.txt")):
    for name in names:
        if read(committed, name) != read(built, name):
            sys.exit(f"{committed}/{name} is not what its sources make: run make serve-page, and commit it")
    page, policy = (read(committed, name) for name in names)
    for element in ("script", "style"):
        [text] = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        if f"{element}-src 'sha256-{digest}'" not in policy:
            sys.exit(f"{names[1]} does not have the hash of the {element} of {names[0]}")
    if "\n" in policy or re.search(r"<[^>]+\s(style|on[a-z]+)=", page.split("<script>")[0]):
        sys.exit(f"{names[1]} is not one line, or {names[0]} has attributes that it forbids")
