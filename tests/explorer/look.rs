#[test]
fn look() {
    let spec = std::env::var("LOOK").unwrap();
    for part in spec.split(';') {
        let mut words = part.trim().splitn(4, ' ');
        let name = words.next().unwrap();
        let (w, h) = (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
        let (mut d, _dir) = super::on(name, w, h);
        d.keys(words.next().unwrap_or(""));
        println!("==== {part}\n{}", d.text_screen());
    }
}
