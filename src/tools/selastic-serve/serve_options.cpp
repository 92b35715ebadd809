// SPDX-License-Identifier: MIT
// Apart from the server, so that selastic, which knows the options for its completion, loads no
// HTTP library.
#include "selastic-serve/serve_options.hpp"

namespace elastic::tools {

std::shared_ptr<ServeOptions> add_serve_options(CommandParser app) {
    auto o = std::make_shared<ServeOptions>();
    const Option listen =
        app.add_option("--listen", o->listen, "Where; 127.0.0.1:9821 by default, port 0 is any")
            .type_name("ADDRESS:PORT");
    app.add_option("--socket", o->socket, "A socket of the file system instead")
        .type_name("PATH")
        .check([](const std::string& path) { return path.empty() ? "it is empty" : ""; })
        .excludes(listen);
    app.add_option("--name", o->names, "A name by which browsers may know this server")
        .type_name("NAME")
        .one_value_each();
    app.add_option("--interval", o->interval,
                   "Seconds between two looks at the controller; 2 by default")
        .number(0.2, 60)
        .type_name("S");
    app.add_option("--connections", o->connections, "At most so many; 1024 by default")
        .whole_number(8, 16'384)
        .type_name("N");
    return o;
}

}  // namespace elastic::tools
