import { onTestFinished } from "vitest";
import { launchServer, type LaunchOptions, type ServerHandle } from "@candor/bus/server";
import { serverProgram } from "./start-server.js";

/** A bare server, without accounts and streams unless told, that ends with the test. */
export async function temporaryServer(options: LaunchOptions): Promise<ServerHandle> {
  const server = await launchServer({ program: await serverProgram(), ...options });
  onTestFinished(() => server.kill());
  return server;
}
