// The beginning.

/** For the tests, and for whoever plays with the console. */
window.playground = { Engine, Coalescer, Clock };

loadModule(document.getElementById("module").textContent).then(() => {
    document.body.dataset.ready = "yes";
});
