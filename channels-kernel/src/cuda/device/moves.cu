
// A warp decides what moves where. Tiles are taken from the top of a run downwards, so what no block took lies at the bottom; the tiles that were
// given back are to lie directly above it. `from` and `to` of the list then say which tile goes where.
FN Left plan_moves(Shared& sh, Control* c, const Dispatch& d, u32 tile, u32 blocks) {
  const u32 tiles = (d.count + tile - 1) / tile, part = d.count - (tiles - 1) * tile;
  // Relaxed: the barrier before has ordered them.
  const u32 given = GLOBAL_LOAD(&c->given), beyond = GLOBAL_LOAD(&c->ticket);
  Left left = {d.first, 0, 0};
  if (given == 0) return left;
  u32 taken = blocks < tiles ? blocks : tiles;
  taken = beyond < tiles - taken ? taken + beyond : tiles;
  Tiles* const list = c->tiles;
  bool lowest = false;
  for (u32 i = lane_id(); i < given; i += WARP) lowest |= GLOBAL_LOAD(&list->given[i]) == tiles - 1;
  lowest = __any_sync(ALL_LANES, lowest) != 0;
  if (taken < tiles) {
    left.count = part + (tiles - taken - 1 + given) * tile;
  } else if (lowest || part == tile) {
    // All of them were taken, and what is left fills the run from its first element on, where the level may go on below it.
    left.count = lowest ? part + (given - 1) * tile : given * tile;
  } else {
    // The lowest tile is less than a tile, and it is gone: the others end above it. Only a run that goes down to the level's lowest element has
    // such a tile, so the level begins above it from now on.
    left.count = given * tile;
    left.bottom += part;
    taken--;
  }
  const u32 slot = taken - given;  // the first of the places that are filled
  for (u32 i = lane_id(); i < (given + 31) / 32; i += WARP) sh.marks[i] = 0;
  __syncwarp();
  for (u32 i = lane_id(); i < given; i += WARP) {
    const u32 t = GLOBAL_LOAD(&list->given[i]);
    // Relaxed: the warp's barrier orders them.
    if (t >= slot) __nv_atomic_fetch_or(&sh.marks[(t - slot) / 32], 1u << (t - slot) % 32, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  __syncwarp();
  u32 places = 0;
  for (u32 at = 0; at < given; at += WARP) {
    const u32 i = at + lane_id(), below = (1u << lane_id()) - 1;
    const u32 t = i < given ? GLOBAL_LOAD(&list->given[i]) : taken;
    const u32 movers = __ballot_sync(ALL_LANES, t < slot);
    const u32 free = __ballot_sync(ALL_LANES, i < given && !(sh.marks[i / 32] >> i % 32 & 1));
    if (t < slot) list->from[left.moves + (u32)__popc(movers & below)] = t;
    if (free >> lane_id() & 1) list->to[places + (u32)__popc(free & below)] = slot + i;
    left.moves += (u32)__popc(movers);
    places += (u32)__popc(free);
  }
  __syncwarp();
  return left;
}

// A dispatch of its own: `level` tiles of the run `first`, `count` move; `base` names the channel, `room` the size of a tile.
FN void move_tiles(Shared& sh, u32 block, u32 blocks) {
  const Dispatch& d = sh.dispatch;
  Tiles* const list = device_channels.control->tiles;
  const u32 tile = d.room[0], end = d.first + d.count;
  for (u32 i = block; i < d.level; i += blocks) {
    const u32 from = GLOBAL_LOAD(&list->from[i]), to = GLOBAL_LOAD(&list->to[i]);
    move_elements(d.base[0], end - (to + 1) * tile, end - (from + 1) * tile, tile);
  }
}
