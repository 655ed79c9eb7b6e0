//! The selection that all panes share, and what belongs to it.

use std::sync::Arc;

use super::data::{BlockData, ItemId, NodeId, NodeKind, Opened, Part, Slot};
use super::{App, ItemKey};
use crate::bytes::Span;
use crate::damage::Space;

/// Bytes that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Of the file, or of the decompressed block.
    pub space: Space,
    /// Of a layer: which of its files.
    pub part: Part,
    /// Which.
    pub span: Span,
}

/// The selection that all panes share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The line of the tree.
    pub node: NodeId,
    /// Where that is a directory: the file in it that the cursor of a pane is on.
    pub item: Option<ItemId>,
    /// The block.
    pub slot: Option<u32>,
    /// The sector.
    pub sector: Option<u64>,
    /// The voxel: its place in the block, or in the layer of a map.
    pub voxel: Option<[u32; 3]>,
    /// The bytes.
    pub bytes: Option<Bytes>,
    /// The finding, by its number.
    pub finding: Option<usize>,
}

impl App {
    /// The selected file: that of the selected line of the tree, or one in the selected directory.
    #[must_use]
    pub fn selected_item(&self) -> Option<ItemId> {
        let index = self.index.as_ref()?;
        let in_directory = || self.selection.item.or_else(|| index.first_with_blocks(self.selection.node));
        index.item_of(self.selection.node).or_else(in_directory)
    }

    /// Whether the selected line of the tree is a directory or a save with several files.
    #[must_use]
    pub fn selects_directory(&self) -> bool {
        self.index.as_ref().is_some_and(|index| index.item_of(self.selection.node).is_none())
    }

    /// Selects a file: inside the selected directory where it is there, otherwise by its line of the tree.
    pub fn select_item(&mut self, item: ItemId) {
        let Some(index) = self.index.clone() else { return };
        if self.selects_directory() && self.selected_items().contains(&item) {
            if self.selected_item() != Some(item) {
                let (node, finding) = (self.selection.node, self.selection.finding);
                self.selection = Selection { node, item: Some(item), finding, ..Selection::default() };
            }
        } else if let Some(node) = index.node_of(item) {
            self.select_node(node);
            self.panes.tree.show(&index, node);
        }
    }

    /// Selects the first block of a file when it is opened and nothing in it is selected yet. Once: a cursor may also be
    /// where no block is.
    pub fn select_first_block(&mut self) {
        let Selection { slot: None, sector: None, voxel: None, bytes: None, .. } = self.selection else { return };
        let key = self.item_key().filter(|_| self.opened_item().is_some());
        if self.pending_target.is_some() || key.is_none() || self.first_selected == key {
            return;
        }
        self.first_selected = key;
        if let Some(slot) = self.opened_item().and_then(|opened| opened.slots.first()).map(|slot| slot.slot) {
            self.select_slot(slot);
        }
    }

    /// The key of the selected item.
    #[must_use]
    pub fn item_key(&self) -> Option<ItemKey> {
        Some((self.generation, self.selected_item()?))
    }

    /// The file that is open, when it is the selected one.
    #[must_use]
    pub fn opened_item(&self) -> Option<&Arc<Opened>> {
        self.item.get(&self.item_key()?)
    }

    /// The block that is selected, in its file's table.
    #[must_use]
    pub fn selected_slot(&self) -> Option<Slot> {
        self.opened_item()?.slot(self.selection.slot?).copied()
    }

    /// The key of the selected block.
    #[must_use]
    pub fn block_key(&self) -> Option<(ItemKey, u32)> {
        Some((self.item_key()?, self.selection.slot?))
    }

    /// The selected block, when it has been read.
    #[must_use]
    pub fn selected_block(&self) -> Option<&Arc<BlockData>> {
        self.block.get(&self.block_key()?)
    }

    /// Selects a line of the tree; what was selected inside another file is forgotten.
    pub fn select_node(&mut self, node: NodeId) {
        if self.selection.node != node {
            self.selection = Selection { node, finding: self.selection.finding, ..Selection::default() };
        }
    }

    /// Selects a block of the open file, with its sectors and its bytes.
    pub fn select_slot(&mut self, slot: u32) {
        if self.selection.slot == Some(slot) {
            return;
        }
        self.selection.slot = Some(slot);
        self.selection.voxel = None;
        self.selection.bytes = None;
        if let Some(opened) = self.opened_item().cloned()
            && let Some(at) = opened.slot(slot)
        {
            self.selection.sector = Some(at.first);
            let span = opened.sector_span(at.first, at.count);
            self.selection.bytes = Some(Bytes { space: Space::File, part: Part::Data, span });
        }
    }

    /// The files below the selected line, as their numbers.
    #[must_use]
    pub fn selected_items(&self) -> std::ops::Range<ItemId> {
        let node = self.index.as_ref().and_then(|index| index.nodes.get(self.selection.node));
        node.map_or(0..0, |node| node.items.clone())
    }

    /// The kind of the selected line.
    #[must_use]
    pub fn selected_kind(&self) -> Option<NodeKind> {
        Some(self.index.as_ref()?.nodes.get(self.selection.node)?.kind)
    }
}
