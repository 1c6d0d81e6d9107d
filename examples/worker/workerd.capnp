using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # Whatever backends are reached: by default only public addresses are.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "*:4000", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "server.js", esModule = embed "dist/server.js")],
  compatibilityDate = "2026-11-01",
);
