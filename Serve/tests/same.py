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
for name in ("index.html", "policy.txt"):
    if read(committed, name) != read(built, name):
        sys.exit(f"{committed}/{name} is not what its sources make: run make serve-page, and commit it")
page, policy = read(committed, "index.html"), read(committed, "policy.txt")
for element in ("script", "style"):
    [text] = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    if f"{element}-src 'sha256-{digest}'" not in policy:
        sys.exit(f"the policy does not have the hash of the page's {element}")
if "\n" in policy or re.search(r"<[^>]+\s(style|on[a-z]+)=", page.split("<script>")[0]):
    sys.exit("the policy is not one line, or the page has attributes that it forbids")
