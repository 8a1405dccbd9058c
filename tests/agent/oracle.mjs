// Answers what the real Pi agent makes of session files: one JSON request a line on standard input, one JSON answer a
// line on standard output, until the input ends. `node oracle.mjs FOLDER`, where FOLDER holds Pi's node_modules.
//
//   {"op": "session", "path": FILE}            the session at its own leaf
//   {"op": "session", ..., "leaf": ID | null}  with the leaf moved there (null: before the first entry)
//   {"op": "session", ..., "leafAt": N}        with the leaf moved to the N-th entry (version 1 files have no ids)
//   {"op": "list", "dir": DIR}                 the sessions Pi lists for a flat folder
//   {"op": "search", "dir": DIR, "query": TEXT, "sort": "relevance" | "recent"}   ids of those that match, in order
//
// What goes wrong inside Pi is answered as {"error": MESSAGE}. Pi repairs and migrates the files it opens, so it gets
// copies.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const packages = join(process.argv[2], "node_modules", "@earendil-works");
const load = (...parts) => import(pathToFileURL(join(packages, ...parts)).href);
const { SessionManager } = await load("pi-coding-agent", "dist/core/session-manager.js");
const interactive = (...parts) => load("pi-coding-agent", "dist/modes/interactive", ...parts);
const { TreeSelectorComponent } = await interactive("components/tree-selector.js");
const { filterAndSortSessions } = await interactive("components/session-selector-search.js");
const { initTheme } = await interactive("theme/theme.js");
const { KeybindingsManager } = await load("pi-coding-agent", "dist/core/keybindings.js");
const { setKeybindings } = await load("pi-tui", "dist/index.js");
initTheme("dark");
setKeybindings(KeybindingsManager.create());

const nothing = () => {};

/** The rows of Pi's tree as [id, level drawn]: where several roots show, Pi draws them all one level further left. */
function rows(manager, filter) {
  const leaf = manager.getLeafId();
  const component = new TreeSelectorComponent(manager.getTree(), leaf, 40, nothing, nothing, nothing, undefined, filter);
  const list = component.getTreeList();
  const drawn = (indent) => (list.multipleRoots ? Math.max(0, indent - 1) : indent);
  return list.filteredNodes.map(({ node, indent }) => [node.entry.id, drawn(indent)]);
}

function moveLeaf(manager, { leaf, leafAt }) {
  if (leafAt !== undefined) manager.branch(manager.getEntries()[leafAt].id);
  else if (leaf === null) manager.resetLeaf();
  else if (leaf !== undefined) manager.branch(leaf);
}

function describe(manager) {
  const ids = (entries) => entries.map((entry) => entry.id);
  const entryIds = ids(manager.getEntries());
  const labels = entryIds.map((id) => [id, manager.getLabel(id)]).filter(([, label]) => label !== undefined);
  return {
    header: manager.getHeader(),
    leaf: manager.getLeafId(),
    name: manager.getSessionName() ?? null,
    labels: Object.fromEntries(labels),
    entryIds,
    branch: ids(manager.getBranch()),
    contextEntries: ids(manager.buildContextEntries()),
    context: manager.buildSessionContext(),
    trees: Object.fromEntries(FILTERS.map((filter) => [filter, rows(manager, filter)])),
  };
}

function session(request) {
  const scratch = mkdtempSync(join(tmpdir(), "pi-session-"));
  try {
    const copy = join(scratch, basename(request.path));
    copyFileSync(request.path, copy);
    const manager = SessionManager.open(copy);
    moveLeaf(manager, request);
    return describe(manager);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function search({ dir, query, sort }) {
  const found = filterAndSortSessions(await SessionManager.listAll(dir), query, sort);
  return found.map((info) => info.id);
}

const operations = { session, search, list: ({ dir }) => SessionManager.listAll(dir) };

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = JSON.stringify(await operations[request.op](request));
  } catch (error) {
    answer = JSON.stringify({ error: String(error?.message ?? error) });
  }
  process.stdout.write(`${answer}\n`);
}
