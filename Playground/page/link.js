// The link: the policies and the stage's settings after the #, as text.

const usualPolicies = () => [
    makePolicy("debounce", 300), makePolicy("debounce", 300, { maxWait: 1000 }), makePolicy("throttle", 500),
];

/** Returns the part of the link that reproduces the settings. */
function stageLink(stage) {
    const parts = stage.policies.map(policyToLink);
    const settings = ["key", "delay", "takes", "throws"].filter((id) => {
        const field = element(id);
        const usual = field.tagName === "SELECT" ? field.options[0].value : field.defaultValue;
        return field.value !== usual;
    });
    for (const id of settings) parts.push(`${id}=${encodeURIComponent(element(id).value)}`);
    return `#!${parts.join("&")}`;
}

/** Sets the stage as a link says, with defaults for the rest. Throws an error that says what is wrong. */
function followLink(fragment, stage) {
    if (!fragment.startsWith("#!")) return false;
    const policies = [];
    const settings = new Map();
    for (const part of decodeURI(fragment.slice(2)).split("&").filter(Boolean)) {
        const setting = /^(key|delay|takes|throws)=(.*)$/.exec(part);
        if (setting) settings.set(setting[1], decodeURIComponent(setting[2])); else policies.push(policyFromLink(part));
    }
    if (policies.length > Stage.most) throw new Error(`at most ${Stage.most} policies can be side by side`);
    stage.policies = policies.length > 0 ? policies : usualPolicies();
    for (const id of ["key", "delay", "takes", "throws"]) {
        const field = element(id);
        field.value = settings.get(id) ?? (field.tagName === "SELECT" ? field.options[0].value : field.defaultValue);
        // A choice that does not exist is ignored.
        if (field.value === "" && field.tagName === "SELECT") field.selectedIndex = 0;
        field.dispatchEvent(new Event("change"));
    }
    return true;
}
